/*
 * How values are spelt, on the command line and in the configuration file alike. Pure; whoever asks
 * words the complaint.
 */
#ifndef TRACERD_DAEMON_OPTION_VALUES_H
#define TRACERD_DAEMON_OPTION_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"
#include "provider.h"

/* 10s, 500ms, 2m: whole number and unit, above zero. */
bool option_time(const char *text, uint64_t *out_ns);
/* 4M, 512K, 65536. */
bool option_size(const char *text, uint64_t *out_bytes);
/* 256M or 10m: sets the one that it is. */
bool option_rotation(const char *text, uint64_t *out_bytes, uint64_t *out_ns);
/* 30s, 30s,256M: the size is untouched if there is none. */
bool option_window(const char *text, uint64_t *out_ns, uint64_t *out_bytes);
/* Decimal digits only, above zero. */
bool option_number(const char *text, uint64_t *out);
/* SYSTEM:EVENT, either may hold glob characters; neither is empty. */
bool option_is_event(const char *text);

/* One NAME[:KEYWORDS[:LEVEL]] of proto/provider.h. */
bool option_is_provider(const char *text);
/* Those of a command line as one list, with a NUL; false if they are too many. */
bool option_join_providers(const char *const *providers, size_t count,
                           char out[TRD_PROVIDERS_SIZE_MAX + 1]);

/* For messages: the CLR's categories that can be chosen, in the order of enum trd_category; and
 * those that "default" leaves out, each with ", " before it. */
#define OPTION_CATEGORY_NAME(number, ident, name) ", " name
#define OPTION_CATEGORIES "default" TRD_CATEGORIES(OPTION_CATEGORY_NAME, OPTION_CATEGORY_NAME)
#define OPTION_CATEGORIES_OPT_IN TRD_CATEGORIES(TRD_CATEGORY_NOTHING, OPTION_CATEGORY_NAME)
/* A comma-separated list; the one that must always be there is added. False: *out_bad and
 * *out_bad_size are the first name that is none. */
bool option_categories(const char *list, uint32_t *out_mask, const char **out_bad,
                       size_t *out_bad_size);

#endif

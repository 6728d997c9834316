/*
 * Providers of EventPipe as people name them and as they travel (TRACERD_PROVIDERS, the frame
 * PROVIDERS): a list, separated by commas, of
 *
 *   NAME[:KEYWORDS[:LEVEL]]
 *
 * KEYWORDS is hexadecimal, with or without 0x; absent or empty means all of them. LEVEL is 0
 * (everything), 1 critical, 2 error, 3 warning, 4 informational or 5 verbose; absent means 5.
 */
#ifndef TRD_PROTO_PROVIDER_H
#define TRD_PROTO_PROVIDER_H

#include <stddef.h>
#include <stdint.h>

/* Limits of what a peer may ask for: the longest name of .NET's own is 52 characters. */
#define TRD_PROVIDER_NAME_MAX 127
#define TRD_PROVIDERS_MAX 16
#define TRD_PROVIDERS_SIZE_MAX 2048 /* of a list, without a NUL */

#define TRD_PROVIDER_LEVEL_MAX 5
#define TRD_PROVIDER_KEYWORDS_ALL UINT64_MAX

struct trd_provider {
    const char *name; /* borrowed from the list; not terminated */
    size_t name_size;
    uint64_t keywords;
    uint32_t level;
};

/*
 * Takes the first one off a list of *size bytes, which moves on behind it. 1, 0 at the end of the
 * list, -EINVAL for what is none: *out is untouched then, and the list too.
 */
int trd_provider_next(const char **list, size_t *size, struct trd_provider *out);

#endif

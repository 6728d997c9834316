/*
 * Writes records as JSON lines, version 1 (see design: "JSON line, version 1"). A writer holds the
 * plans: one per schema, compiled at first sight, then run per event without allocation, name
 * look-up or printf. It does not do I/O: lines go into the caller's buffer.
 */
#ifndef TRACERD_JSON_H
#define TRACERD_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "tracerd/catalog.h"
#include "tracerd/export.h"
#include "tracerd/record.h"

struct trd_json;

/*
 * Names behind ids: `resolve` answers a METHOD, MODULE, ASSEMBLY or THREAD id of process `pid`
 * with text (*out_size bytes, borrowed until the next call), or NULL. May be NULL.
 * `symbol` answers an address of code of the process with the name of what lay there at ts_ns and
 * the offset in it; asked where the kernel's symbols have no answer. May be NULL.
 */
struct trd_json_names {
    const char *(*resolve)(void *context, int32_t pid, enum trd_meaning meaning, uint64_t id,
                           size_t *out_size);
    const char *(*symbol)(void *context, int32_t pid, uint64_t address, uint64_t ts_ns,
                          size_t *out_size, uint64_t *out_offset);
    void *context;
};

TRD_EXPORT int trd_json_create(struct trd_json **out, const struct trd_json_names *names);
TRD_EXPORT void trd_json_destroy(struct trd_json *json);
/* Symbols of this catalog's kernel for SYMBOL and STACK fields of its schemas. Before the first
 * record with one of them; catalog and schemas must outlive the writer. */
TRD_EXPORT void trd_json_add_catalog(struct trd_json *json, const struct trd_catalog *catalog);

/* Is added to every time that is written from now on (not to durations), so that lines are in
 * another clock than the records. */
TRD_EXPORT void trd_json_set_offset(struct trd_json *json, int64_t offset_ns);

/*
 * One line, newline included, with the given sequence number. Returns the bytes written; -ENOSPC if
 * capacity is too small (nothing is promised about out then). TRD_JSON_LINE_MAX is enough for every
 * event: should an event want more, which takes a hostile record, the fields that do not fit are
 * left out and the line says "cut". Ready args must fit as they are.
 */
#define TRD_JSON_LINE_MAX (1024 * 1024)
TRD_EXPORT int64_t trd_json_line(struct trd_json *json, const struct trd_record *record,
                                 uint64_t seq, char *out, size_t capacity);

/* Helper for others who build lines: a JSON string with its quotes, UTF-8 repaired. Bytes written,
 * or what it would need if more than capacity (worst case 6 * size + 2). */
TRD_EXPORT size_t trd_json_string(const char *bytes, size_t size, char *out, size_t capacity);
/* The bytes that a string of a line stood for: takes a string that a JSON parser decoded, undoes
 * the repair in place, returns the new size. */
TRD_EXPORT size_t trd_json_restore(char *text, size_t size);

#endif

/*
 * A catalog: all that must be known to decode the records of one kernel: page layout, schemas by
 * event id, enumerator names, symbols, printk formats, command lines. Filled from trace.dat
 * sections, from a live tracefs, or by tests; then read-only, and safe to share between threads.
 * Does no I/O itself. Uses libtraceevent for header pages and command lines; format files, symbols
 * and BTF have parsers of our own, since theirs must not crash on a hostile file and must run in
 * several threads.
 */
#ifndef TRACERD_CATALOG_H
#define TRACERD_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracerd/export.h"
#include "tracerd/schema.h"

struct trd_catalog;

/* How sub-buffers of a kernel are laid out; source: its events/header_page. */
struct trd_page_layout {
    bool big_endian;
    uint8_t long_size;   /* kernel's long: 4 or 8 */
    uint8_t commit_size; /* bytes of the commit word */
    uint16_t commit_offset;
    uint16_t data_offset;
};

/* long_size and byte order are needed before any format is parsed. */
TRD_EXPORT int trd_catalog_create(struct trd_catalog **out, bool big_endian, uint8_t long_size);
TRD_EXPORT void trd_catalog_destroy(struct trd_catalog *catalog);

/* Text of events/header_page. -EBADMSG if it makes no sense; the default layout stays then. */
TRD_EXPORT int trd_catalog_set_header_page(struct trd_catalog *catalog, const char *text,
                                           size_t size);
TRD_EXPORT const struct trd_page_layout *trd_catalog_get_layout(const struct trd_catalog *catalog);

/*
 * One `format` file. 0 if the fields are typed, whatever became of the print format (see
 * trd_schema.print_error); -EBADMSG if not even a name and an id are there; -EEXIST for an id
 * that is known already. `system` is copied.
 */
TRD_EXPORT int trd_catalog_add_format(struct trd_catalog *catalog, const char *system,
                                      const char *text, size_t size);

/* Text files as the kernel gives them; -EBADMSG for text that does not parse, with the good lines
 * kept. */
TRD_EXPORT int trd_catalog_add_kallsyms(struct trd_catalog *catalog, const char *text, size_t size);
TRD_EXPORT int trd_catalog_add_printk_formats(struct trd_catalog *catalog, const char *text,
                                              size_t size);
TRD_EXPORT int trd_catalog_add_cmdlines(struct trd_catalog *catalog, const char *text, size_t size);
/* Raw BTF (as /sys/kernel/btf/vmlinux): enumerators that print formats left as names. Before
 * formats. */
TRD_EXPORT int trd_catalog_add_btf(struct trd_catalog *catalog, const uint8_t *bytes, size_t size);

/* NULL if the id or name is unknown. Borrowed until destroy. */
TRD_EXPORT const struct trd_schema *trd_catalog_find(const struct trd_catalog *catalog,
                                                     uint32_t id);
TRD_EXPORT const struct trd_schema *trd_catalog_find_name(const struct trd_catalog *catalog,
                                                          const char *system, const char *name);
/* Schemas by index, in the order they were added; NULL past the end. */
TRD_EXPORT const struct trd_schema *trd_catalog_get(const struct trd_catalog *catalog,
                                                    size_t index);

/* "function+0x1c" style look-up; NULL if unknown. *out_offset is the distance from its start. */
TRD_EXPORT const char *trd_catalog_symbol(const struct trd_catalog *catalog, uint64_t address,
                                          uint64_t *out_offset);
/* NULL if unknown. */
TRD_EXPORT const char *trd_catalog_printk(const struct trd_catalog *catalog, uint64_t address);
TRD_EXPORT const char *trd_catalog_comm(const struct trd_catalog *catalog, int32_t pid);

/*
 * The kernel's own text of an event (what the `trace` file prints behind "name: "), for people and
 * for the oracle. `%p`, which the kernel hashes, is the raw address here, as with the tracing
 * option hash-ptr off; what only the kernel can answer is shown as such (trd_schema.print_error).
 * Writes at most capacity bytes, NUL included; returns the length it would need.
 */
TRD_EXPORT size_t trd_event_print(const struct trd_catalog *catalog,
                                  const struct trd_schema *schema, const uint8_t *data, size_t size,
                                  char *out, size_t capacity);

/* The schemas of CLR events, from proto/events.def; static, for every process alike. NULL if
 * unknown. */
TRD_EXPORT const struct trd_schema *trd_clr_schema(uint16_t event_id);

#endif

/* What the files of dat_maker share: appending, and the parts that both versions have. */
#ifndef TRD_TESTS_DAT_MAKER_PRIVATE_H
#define TRD_TESTS_DAT_MAKER_PRIVATE_H

#include "dat_maker.h"

/* Zeros if bytes is NULL. */
void maker_put(struct dat_maker_bytes *out, const void *bytes, size_t size);
void maker_put_text(struct dat_maker_bytes *out, const char *text);
void maker_put_number(const struct dat_maker *maker, struct dat_maker_bytes *out, uint64_t value,
                      size_t size);
void maker_align(struct dat_maker_bytes *out, size_t size);
/* A structure begins here. */
void maker_mark(struct dat_maker *maker);

/* magic to page size */
void maker_put_start(struct dat_maker *maker);
void maker_put_option(const struct dat_maker *maker, struct dat_maker_bytes *out, uint16_t id,
                      const struct dat_maker_bytes *data);
void maker_put_number_option(const struct dat_maker *maker, struct dat_maker_bytes *out,
                             uint16_t id, uint64_t value, size_t size);

/* Metadata in the order of version 6, which is that of version 7's section ids from 16 on. */
#define MAKER_PARTS 6
extern void (*const maker_parts[MAKER_PARTS])(const struct dat_maker *, struct dat_maker_bytes *);

void maker_write_v6(struct dat_maker *maker);
void maker_write_v7(struct dat_maker *maker);

#endif

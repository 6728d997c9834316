/* The sections of a file that is written, but for data: what readers must know of the recording. */
#ifndef TRD_COMMON_DAT_SECTIONS_H
#define TRD_COMMON_DAT_SECTIONS_H

#include "dat.h"
#include "dat_bytes.h"
#include "idmap.h"

#define DAT_SECTION_HEAD 16

/* Appends a head whose size is not known yet; gives its place in `out` for _close. */
size_t dat_section_open(struct dat_bytes *out, uint16_t id);
void dat_section_close(struct dat_bytes *out, size_t at);

/*
 * HEADER_INFO to PRINTK, each with its head. `catalog` may be NULL: then only the CLR has formats.
 * out_offsets, by id: where each lies in `out`; 0 = there is none.
 */
void dat_sections_put(struct dat_bytes *out, const struct trd_catalog *catalog,
                      const struct trd_page_layout *layout, uint32_t page_size, uint32_t clr_base,
                      uint64_t *out_offsets);
/* CMDLINES; the values are C strings by thread id. */
void dat_sections_put_cmdlines(struct dat_bytes *out, const struct idmap *comms);

#endif

/*
 * A section of a version 7 file: a header of 16 bytes {u16 id, u16 flags, u32 description, u64
 * size} and a body. Finds one by offset or by stepping from header to header; unpacks metadata.
 */
#ifndef TRD_COMMON_DAT_SECTION_H
#define TRD_COMMON_DAT_SECTION_H

#include "dat.h"

struct dat_section {
    uint16_t id;
    bool compressed;
    bool open;            /* the size was never filled in, or reaches beyond the file */
    uint64_t at;          /* of the header */
    struct cursor cursor; /* the body: in the file, or unpacked */
    uint8_t *owned;       /* what was unpacked */
};

/* 0; -EBADMSG if there is none at this offset. The body ends at the file's end at the latest. */
int dat_section_find(const struct dat *dat, uint64_t offset, struct dat_section *out);
/*
 * The section at *offset, and moves *offset behind it: 1, 0 at the file's end or where nothing
 * sensible follows. A section whose size is 4 bytes too small (a fault of old writers) is stepped
 * over right.
 */
int dat_section_next(const struct dat *dat, uint64_t *offset, struct dat_section *out);
/* A metadata body as a whole; 0, -EBADMSG, -ENOMEM. Free with finish in any case. */
int dat_section_unpack(struct dat *dat, struct dat_section *section);
void dat_section_finish(struct dat_section *section);

#endif

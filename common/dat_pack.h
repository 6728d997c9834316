/*
 * Compression in a file that is written. What a CPU has: from its place to behind it, chunk by
 * chunk as trace-cmd does (u32 count; per chunk u32 packed size, u32 size, a zstd frame). What it
 * was stays until it is no longer needed.
 */
#ifndef TRD_COMMON_DAT_PACK_H
#define TRD_COMMON_DAT_PACK_H

#include "dat_bytes.h"
#include "dat_stream.h"

struct dat_pack;

/* NULL without memory. `page_size` is that of all streams. */
struct dat_pack *dat_pack_create(uint32_t page_size);
void dat_pack_destroy(struct dat_pack *pack);
/* The stream's place and size are then those of its chunks; page-aligned, nothing for nothing. */
int dat_pack_stream(struct dat_pack *pack, struct dat_stream *stream);

/* The sections from `from` on, each with its head, become compressed ones: u32 packed size, u32
 * size, a zstd frame. `offsets`, by id, then tell where they are. */
void dat_pack_sections(struct dat_bytes *bytes, size_t from, uint64_t *offsets);

#endif

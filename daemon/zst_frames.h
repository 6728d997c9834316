/*
 * The form of `.ndjson.zst`: independent zstd frames of whole lines, each followed by a skippable
 * frame that says what it holds, so that a reader can find a time without decompressing, and that a
 * cut file is whole up to its last frame. Plain `zstdcat` reads the lines.
 *
 *   | zstd frame | entry | zstd frame | entry | … | index |
 *
 * entry: skippable frame (magic 0x184D2A5A) of 64 bytes of content:
 *   0 "TRDI" · 4 u32 version 1 · 8 u64 offset of the zstd frame · 16 u32 its size · 20 u32 size of
 *   the text · 24 u64 first_ns · 32 u64 last_ns · 40 u64 first_seq · 48 u64 lines · 56 u64 zero
 * index: skippable frame (0x184D2A5B): "TRDX", u32 version 1, u64 count, then `count` entries as
 * above, then u32 size of all this content and "XDRT": the last eight bytes of a whole file.
 * Everything little-endian. Source of the frames: RFC 8878, sections 3.1.1 and 3.1.2.
 */
#ifndef TRACERD_DAEMON_ZST_FRAMES_H
#define TRACERD_DAEMON_ZST_FRAMES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pipeline.h"

#define ZST_MAGIC 0xFD2FB528u
#define ZST_TEXT_MAX (4u << 20) /* of one frame, but for a single line that is longer */
#define ZST_FRAME_NS UINT64_C(1000000000)

struct zst_entry {
    uint64_t offset;
    uint32_t size;
    uint32_t text_size;
    uint64_t first_ns, last_ns;
    uint64_t first_seq;
    uint64_t lines;
};

struct zst_writer;

/*
 * `write` puts all bytes down or returns a negative errno, after which the writer is of no use but
 * for destroy. -ENOMEM.
 */
int zst_writer_create(struct zst_writer **out,
                      int (*write)(void *context, const void *bytes, size_t size), void *context);
void zst_writer_destroy(struct zst_writer *writer);
/* Whole lines; a frame goes out when it is full or its lines span a second. 0 or negative. */
int zst_writer_lines(struct zst_writer *writer, const struct line_batch *batch);
/* The frame that is begun goes out, so that a reader sees it. */
int zst_writer_flush(struct zst_writer *writer);
/* Flushes and writes the index: the file is whole. */
int zst_writer_end(struct zst_writer *writer);
/* The most bytes the whole file can have if it ends after `more` bytes of lines. */
uint64_t zst_writer_most(const struct zst_writer *writer, uint64_t more);

/*
 * The text of such a file, or of any other zstd file, as a stream. What is damaged is passed over
 * up to the next frame and counted; the line in which it happened is cut there. NULL and errno.
 */
struct zst_damage {
    uint64_t bytes; /* compressed; 0 = none */
    uint64_t first_at;
};
FILE *zst_open(const char *path, struct zst_damage *damage);

#endif

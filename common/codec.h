/* The compressions of trace.dat version 7, by the name the file gives. */
#ifndef TRD_COMMON_CODEC_H
#define TRD_COMMON_CODEC_H

#include <stddef.h>
#include <stdint.h>

enum codec_kind {
    CODEC_NONE,
    CODEC_ZLIB,
    CODEC_ZSTD
};

struct codec {
    enum codec_kind kind;
    void *context; /* owned: zstd's working memory, kept from chunk to chunk */
};

/* -ENOTSUP for a name that is not built in. */
int codec_init(struct codec *codec, const char *name);
void codec_finish(struct codec *codec);
/* Exactly out_size bytes must come out: the container says how many; -EBADMSG otherwise. */
int codec_decompress(struct codec *codec, const uint8_t *bytes, size_t size, uint8_t *out,
                     size_t out_size);

#endif

/* The compressions of trace.dat version 7, by the name the file gives. */
#ifndef TRD_COMMON_CODEC_H
#define TRD_COMMON_CODEC_H

#include <stddef.h>
#include <stdint.h>

enum codec {
    CODEC_NONE,
    CODEC_ZLIB,
    CODEC_ZSTD
};

/* -ENOTSUP for a name that is not built in. */
int codec_find(const char *name, enum codec *out);
/* Exactly out_size bytes must come out: the container says how many; -EBADMSG otherwise. */
int codec_decompress(enum codec codec, const uint8_t *bytes, size_t size, uint8_t *out,
                     size_t out_size);

#endif

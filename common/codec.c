#include "codec.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

int codec_find(const char *name, enum codec *out)
{
    if (strcmp(name, "none") == 0)
        *out = CODEC_NONE;
    else if (strcmp(name, "zlib") == 0)
        *out = CODEC_ZLIB;
    else if (strcmp(name, "zstd") == 0)
        *out = CODEC_ZSTD;
    else
        return -ENOTSUP;
    return 0;
}

int codec_decompress(enum codec codec, const uint8_t *bytes, size_t size, uint8_t *out,
                     size_t out_size)
{
    uLongf inflated = out_size;

    switch (codec) {
    case CODEC_ZLIB:
        return uncompress(out, &inflated, bytes, size) == Z_OK && inflated == out_size ? 0
                                                                                       : -EBADMSG;
    case CODEC_ZSTD:
        return ZSTD_decompress(out, out_size, bytes, size) == out_size ? 0 : -EBADMSG;
    default:
        return -EBADMSG;
    }
}

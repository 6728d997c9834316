#include "codec.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

int codec_init(struct codec *codec, const char *name)
{
    codec->context = NULL;
    if (strcmp(name, "none") == 0)
        codec->kind = CODEC_NONE;
    else if (strcmp(name, "zlib") == 0)
        codec->kind = CODEC_ZLIB;
    else if (strcmp(name, "zstd") == 0)
        codec->kind = CODEC_ZSTD;
    else
        return -ENOTSUP;
    if (codec->kind != CODEC_ZSTD)
        return 0;
    codec->context = ZSTD_createDCtx();
    return codec->context ? 0 : -ENOMEM;
}

void codec_finish(struct codec *codec)
{
    (void)ZSTD_freeDCtx(codec->context);
    codec->context = NULL;
}

int codec_decompress(struct codec *codec, const uint8_t *bytes, size_t size, uint8_t *out,
                     size_t out_size)
{
    uLongf inflated = out_size;

    switch (codec->kind) {
    case CODEC_ZLIB:
        return uncompress(out, &inflated, bytes, size) == Z_OK && inflated == out_size ? 0
                                                                                       : -EBADMSG;
    case CODEC_ZSTD:
        return ZSTD_decompressDCtx(codec->context, out, out_size, bytes, size) == out_size
                   ? 0
                   : -EBADMSG;
    default:
        return -EBADMSG;
    }
}

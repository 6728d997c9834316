#include "dat_pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define PAGES_PER_CHUNK 10u /* as trace-cmd has it */
#define CHUNK_HEAD 8u
#define LEVEL 1 /* level 3 takes twice the time for 5 % */

struct dat_pack {
    ZSTD_CCtx *codec; /* owned */
    uint8_t *pages;   /* owned; a chunk as it was */
    uint8_t *packed;  /* owned; its head and what became of it */
    size_t chunk_size, packed_size;
};

struct dat_pack *dat_pack_create(uint32_t page_size)
{
    struct dat_pack *pack = calloc(1, sizeof(*pack));

    if (!pack)
        return NULL;
    pack->chunk_size = (size_t)page_size * PAGES_PER_CHUNK;
    pack->packed_size = CHUNK_HEAD + ZSTD_compressBound(pack->chunk_size);
    pack->codec = ZSTD_createCCtx();
    pack->pages = malloc(pack->chunk_size);
    pack->packed = malloc(pack->packed_size);
    if (pack->codec && pack->pages && pack->packed)
        return pack;
    dat_pack_destroy(pack);
    return NULL;
}

void dat_pack_destroy(struct dat_pack *pack)
{
    if (!pack)
        return;
    ZSTD_freeCCtx(pack->codec);
    free(pack->pages);
    free(pack->packed);
    free(pack);
}

/* `size` bytes at `from` become a chunk at *to, which moves behind it. */
static int pack_chunk(struct dat_pack *pack, const struct trd_dat_target *target, uint64_t from,
                      size_t size, uint64_t *to)
{
    uint32_t head[2] = { 0, (uint32_t)size };
    int result = target->read(target->context, from, pack->pages, size);
    size_t packed;

    if (result != 0)
        return result;
    packed = ZSTD_compressCCtx(pack->codec, pack->packed + CHUNK_HEAD,
                               pack->packed_size - CHUNK_HEAD, pack->pages, size, LEVEL);
    if (ZSTD_isError(packed))
        return -ENOMEM; /* the one thing that can be missing here */
    head[0] = (uint32_t)packed;
    memcpy(pack->packed, head, sizeof(head));
    result = target->write(target->context, *to, pack->packed, CHUNK_HEAD + packed);
    *to += CHUNK_HEAD + packed;
    return result;
}

int dat_pack_stream(struct dat_pack *pack, struct dat_stream *stream)
{
    uint64_t begin = stream->begin + stream->size, end = begin, to = begin + sizeof(uint32_t);
    uint32_t count = (uint32_t)((stream->size + pack->chunk_size - 1) / pack->chunk_size);
    int result = 0;

    if (stream->size == 0)
        return 0;
    /* The whole of a CPU, and what it is packed to: twice its data is far below its region. */
    for (uint64_t at = stream->begin; at < end && result == 0; at += pack->chunk_size)
        result =
            pack_chunk(pack, stream->target, at,
                       end - at < pack->chunk_size ? (size_t)(end - at) : pack->chunk_size, &to);
    if (result == 0)
        result = stream->target->write(stream->target->context, begin, &count, sizeof(count));
    if (result != 0)
        return result;
    stream->begin = begin;
    stream->size = to - begin;
    return 0;
}

#include "dat_pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "dat_sections.h"

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

/* {u16 id, u16 flags, u32 description, u64 size} and `size` bytes; how many in all. */
static size_t pack_section(struct dat_bytes *out, const uint8_t *section, uint64_t *offsets)
{
    uint16_t id;
    uint64_t size;
    size_t bound, packed;
    uint8_t *bytes;

    memcpy(&id, section, sizeof(id));
    memcpy(&size, section + 8, sizeof(size));
    bound = ZSTD_compressBound(size);
    bytes = malloc(bound);
    packed = bytes ? ZSTD_compress(bytes, bound, section + DAT_SECTION_HEAD, size, LEVEL) : 0;
    out->failed |= !bytes || ZSTD_isError(packed);
    offsets[id] = out->size;
    if (!out->failed) {
        dat_bytes_u16(out, id);
        dat_bytes_u16(out, DAT_SECTION_COMPRESSED);
        dat_bytes_u32(out, 0);
        dat_bytes_u64(out, 2 * sizeof(uint32_t) + packed);
        dat_bytes_u32(out, (uint32_t)packed);
        dat_bytes_u32(out, (uint32_t)size);
        dat_bytes_put(out, bytes, packed);
    }
    free(bytes);
    return DAT_SECTION_HEAD + size;
}

void dat_pack_sections(struct dat_bytes *bytes, size_t from, uint64_t *offsets)
{
    struct dat_bytes out = { 0 };

    if (bytes->failed)
        return;
    dat_bytes_put(&out, bytes->bytes, from);
    for (size_t at = from; at < bytes->size && !out.failed;)
        at += pack_section(&out, bytes->bytes + at, offsets);
    dat_bytes_finish(bytes);
    *bytes = out;
}

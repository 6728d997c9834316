#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "zst_frames.h"

#define LEVEL 1 /* the stream has to keep up; level 3 is half as fast and 8 % smaller */
#define ENTRY_MAGIC 0x184D2A5Au
#define INDEX_MAGIC 0x184D2A5Bu
#define ENTRY_SIZE 64
#define HEAD_SIZE 8
/* Beside the packed text: what ZSTD_compressBound has for a second frame, and the entry. */
#define FRAME_OVERHEAD (512 + HEAD_SIZE + ENTRY_SIZE)
#define INDEX_OVERHEAD (HEAD_SIZE + 24)

struct zst_writer {
    int (*write)(void *context, const void *bytes, size_t size);
    void *context;
    ZSTD_CCtx *codec; /* owned */
    char *text;       /* owned; the lines of the frame that is begun */
    size_t text_capacity;
    char *packed; /* owned */
    size_t packed_capacity;
    struct zst_entry entry;    /* of that frame */
    struct zst_entry *entries; /* owned; of those that are out */
    size_t count, capacity;
    uint64_t at;
};

int zst_writer_create(struct zst_writer **out,
                      int (*write)(void *context, const void *bytes, size_t size), void *context)
{
    struct zst_writer *writer = calloc(1, sizeof(*writer));

    if (!writer)
        return -ENOMEM;
    writer->write = write;
    writer->context = context;
    writer->codec = ZSTD_createCCtx();
    if (!writer->codec) {
        zst_writer_destroy(writer);
        return -ENOMEM;
    }
    (void)ZSTD_CCtx_setParameter(writer->codec, ZSTD_c_compressionLevel, LEVEL);
    (void)ZSTD_CCtx_setParameter(writer->codec, ZSTD_c_checksumFlag, 1);
    *out = writer;
    return 0;
}

void zst_writer_destroy(struct zst_writer *writer)
{
    if (!writer)
        return;
    ZSTD_freeCCtx(writer->codec);
    free(writer->text);
    free(writer->packed);
    free(writer->entries);
    free(writer);
}

static int put(struct zst_writer *writer, const void *bytes, size_t size)
{
    int result = writer->write(writer->context, bytes, size);

    if (result == 0)
        writer->at += size;
    return result;
}

static void put_u32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static void put_u64(uint8_t *to, uint64_t value)
{
    put_u32(to, (uint32_t)value);
    put_u32(to + 4, (uint32_t)(value >> 32));
}

uint64_t zst_writer_most(const struct zst_writer *writer, uint64_t more)
{
    uint64_t text = writer->entry.text_size + more;
    /* What is added may not go into the frame that is begun, but make one of its own. */
    uint64_t frames = (text > 0) + (writer->entry.text_size > 0 && more > 0);

    return writer->at + ZSTD_compressBound(text) + frames * (FRAME_OVERHEAD + ENTRY_SIZE) +
           INDEX_OVERHEAD + writer->count * ENTRY_SIZE;
}

static void put_entry(uint8_t *to, const struct zst_entry *entry)
{
    memset(to, 0, ENTRY_SIZE);
    memcpy(to, "TRDI", 4);
    put_u32(to + 4, 1);
    put_u64(to + 8, entry->offset);
    put_u32(to + 16, entry->size);
    put_u32(to + 20, entry->text_size);
    put_u64(to + 24, entry->first_ns);
    put_u64(to + 32, entry->last_ns);
    put_u64(to + 40, entry->first_seq);
    put_u64(to + 48, entry->lines);
}

/* Without memory for it the frame stands in the file but not in the index. */
static void keep_entry(struct zst_writer *writer)
{
    if (writer->count == writer->capacity) {
        size_t capacity = writer->capacity ? 2 * writer->capacity : 64;
        struct zst_entry *entries = realloc(writer->entries, capacity * sizeof(*entries));

        if (!entries)
            return;
        writer->entries = entries;
        writer->capacity = capacity;
    }
    writer->entries[writer->count++] = writer->entry;
}

static int grow(char **bytes, size_t *capacity, size_t wanted)
{
    char *bigger;

    if (wanted <= *capacity)
        return 0;
    bigger = realloc(*bytes, wanted);
    if (!bigger)
        return -ENOMEM;
    *bytes = bigger;
    *capacity = wanted;
    return 0;
}

int zst_writer_flush(struct zst_writer *writer)
{
    struct zst_entry *entry = &writer->entry;
    uint8_t said[HEAD_SIZE + ENTRY_SIZE];
    size_t size;
    int result;

    if (entry->text_size == 0)
        return 0;
    result = grow(&writer->packed, &writer->packed_capacity, ZSTD_compressBound(entry->text_size));
    if (result != 0)
        return result;
    size = ZSTD_compress2(writer->codec, writer->packed, writer->packed_capacity, writer->text,
                          entry->text_size);
    if (ZSTD_isError(size))
        return -ENOMEM; /* the one thing that can be missing here */
    entry->offset = writer->at;
    entry->size = (uint32_t)size;
    put_u32(said, ENTRY_MAGIC);
    put_u32(said + 4, ENTRY_SIZE);
    put_entry(said + HEAD_SIZE, entry);
    result = put(writer, writer->packed, size);
    if (result == 0)
        result = put(writer, said, sizeof(said));
    keep_entry(writer);
    *entry = (struct zst_entry){ 0 };
    return result;
}

static bool is_full(const struct zst_entry *entry, size_t more, uint64_t last_ns)
{
    return entry->text_size > 0 &&
           (entry->text_size + more > ZST_TEXT_MAX || last_ns > entry->first_ns + ZST_FRAME_NS);
}

int zst_writer_lines(struct zst_writer *writer, const struct line_batch *batch)
{
    struct zst_entry *entry = &writer->entry;
    int result = is_full(entry, batch->size, batch->last_ns) ? zst_writer_flush(writer) : 0;

    if (result == 0)
        result = grow(&writer->text, &writer->text_capacity, entry->text_size + batch->size);
    if (result != 0)
        return result;
    if (entry->text_size == 0) {
        entry->first_ns = batch->first_ns;
        entry->first_seq = batch->last_seq + 1 - batch->count;
    }
    memcpy(writer->text + entry->text_size, batch->bytes, batch->size);
    entry->text_size += (uint32_t)batch->size;
    entry->last_ns = batch->last_ns;
    entry->lines += batch->count;
    return 0;
}

int zst_writer_end(struct zst_writer *writer)
{
    int result = zst_writer_flush(writer);
    size_t content = 16 + writer->count * ENTRY_SIZE + 8;
    uint8_t *index;

    if (result != 0)
        return result;
    index = malloc(HEAD_SIZE + content);
    if (!index)
        return -ENOMEM;
    put_u32(index, INDEX_MAGIC);
    put_u32(index + 4, (uint32_t)content);
    memcpy(index + 8, "TRDX", 4);
    put_u32(index + 12, 1);
    put_u64(index + 16, writer->count);
    for (size_t i = 0; i < writer->count; i++)
        put_entry(index + 24 + i * ENTRY_SIZE, &writer->entries[i]);
    put_u32(index + HEAD_SIZE + content - 8, (uint32_t)content);
    memcpy(index + HEAD_SIZE + content - 4, "XDRT", 4);
    result = put(writer, index, HEAD_SIZE + content);
    free(index);
    return result;
}

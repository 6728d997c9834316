#include "definitions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

struct definitions_pack {
    char *bytes; /* owned; one zstd frame */
    size_t size, text_size;
};

static int pack_piece(struct definitions *definitions)
{
    struct definitions_pack *packs =
        realloc(definitions->packs, (definitions->pack_count + 1) * sizeof(*packs));
    size_t bound = ZSTD_compressBound(definitions->piece_size), size;
    char *bytes = packs ? malloc(bound) : NULL, *fitting;

    if (packs)
        definitions->packs = packs;
    if (!bytes)
        return -ENOMEM;
    size = ZSTD_compress(bytes, bound, definitions->piece, definitions->piece_size, 1);
    if (ZSTD_isError(size)) {
        free(bytes);
        return -ENOMEM;
    }
    fitting = realloc(bytes, size);
    packs[definitions->pack_count++] =
        (struct definitions_pack){ fitting ? fitting : bytes, size, definitions->piece_size };
    definitions->packed_bytes += size;
    definitions->piece_size = 0;
    definitions->is_full = definitions->packed_bytes > DEFINITIONS_MAX;
    return 0;
}

static int keep(struct definitions *definitions, const char *line, size_t size)
{
    if (size > DEFINITIONS_PIECE)
        return 0; /* a name that is cut at a kilobyte makes no such line */
    if (!definitions->piece)
        definitions->piece = malloc(DEFINITIONS_PIECE);
    if (!definitions->piece)
        return -ENOMEM;
    if (definitions->piece_size + size > DEFINITIONS_PIECE) {
        int result = pack_piece(definitions);

        if (result != 0)
            return result;
    }
    memcpy(definitions->piece + definitions->piece_size, line, size);
    definitions->piece_size += size;
    return 0;
}

int definitions_note(struct definitions *definitions, const struct line_batch *batch)
{
    static const char head[] = "{\"v\":1,\"k\":\"def\"";
    const char *end = batch->bytes + batch->size;
    int result = 0;

    for (const char *line = batch->bytes; line < end && result == 0 && !definitions->is_full;) {
        const char *next = memchr(line, '\n', (size_t)(end - line));

        next = next ? next + 1 : end;
        if ((size_t)(next - line) > sizeof(head) && memcmp(line, head, sizeof(head) - 1) == 0)
            result = keep(definitions, line, (size_t)(next - line));
        line = next;
    }
    return result;
}

int definitions_each(const struct definitions *definitions,
                     int (*take)(void *context, const char *lines, size_t size), void *context)
{
    char *text = definitions->pack_count > 0 ? malloc(DEFINITIONS_PIECE) : NULL;
    int result = definitions->pack_count > 0 && !text ? -ENOMEM : 0;

    for (size_t i = 0; i < definitions->pack_count && result == 0; i++) {
        const struct definitions_pack *pack = &definitions->packs[i];

        if (ZSTD_decompress(text, DEFINITIONS_PIECE, pack->bytes, pack->size) != pack->text_size)
            result = -ENOMEM; /* the one thing that can be missing here */
        else
            result = take(context, text, pack->text_size);
    }
    free(text);
    if (result == 0 && definitions->piece_size > 0)
        result = take(context, definitions->piece, definitions->piece_size);
    return result;
}

void definitions_finish(struct definitions *definitions)
{
    for (size_t i = 0; i < definitions->pack_count; i++)
        free(definitions->packs[i].bytes);
    free(definitions->packs);
    free(definitions->piece);
    *definitions = (struct definitions){ 0 };
}

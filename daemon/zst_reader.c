#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
#include <zstd.h>

#include "zst_frames.h"

#define BUFFER_SIZE (256 * 1024)
#define MAGIC_SIZE 4

struct zst_reader {
    int fd;
    ZSTD_DCtx *codec; /* owned */
    uint8_t *buffer;  /* owned */
    ZSTD_inBuffer input;
    uint64_t read; /* bytes of the file that came into the buffer */
    bool in_frame;
    bool at_end; /* of the file */
    struct zst_damage *damage;
};

/* Moves what is left to the front and reads on; false at the end of the file. */
static bool fill(struct zst_reader *reader)
{
    size_t left = reader->input.size - reader->input.pos;
    ssize_t got;

    if (reader->at_end || left == BUFFER_SIZE)
        return false;
    memmove(reader->buffer, reader->buffer + reader->input.pos, left);
    got = read(reader->fd, reader->buffer + left, BUFFER_SIZE - left);
    reader->at_end = got <= 0;
    reader->input.pos = 0;
    reader->input.size = left + (got > 0 ? (size_t)got : 0);
    reader->read += got > 0 ? (uint64_t)got : 0;
    return got > 0;
}

static void give_up(struct zst_reader *reader, size_t bytes)
{
    if (reader->damage->bytes == 0)
        reader->damage->first_at = reader->read - (reader->input.size - reader->input.pos);
    reader->damage->bytes += bytes;
    reader->input.pos += bytes;
}

static bool is_frame(const uint8_t *bytes)
{
    uint32_t magic = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                     (uint32_t)bytes[3] << 24;

    return magic == ZST_MAGIC || (magic & 0xfffffff0u) == 0x184D2A50u;
}

/* To the next place where a frame may begin, over one byte at least; false if there is none. */
static bool resynchronise(struct zst_reader *reader)
{
    size_t skip = 1;

    (void)ZSTD_DCtx_reset(reader->codec, ZSTD_reset_session_only);
    reader->in_frame = false;
    for (;;) {
        const uint8_t *at = reader->buffer + reader->input.pos;
        size_t left = reader->input.size - reader->input.pos;

        while (skip + MAGIC_SIZE <= left && !is_frame(at + skip))
            skip++;
        if (skip + MAGIC_SIZE <= left) {
            give_up(reader, skip);
            return true;
        }
        skip = skip < left ? skip : left;
        give_up(reader, skip);
        skip = 0;
        if (!fill(reader)) {
            give_up(reader, reader->input.size - reader->input.pos);
            return false;
        }
    }
}

static ssize_t read_text(void *cookie, char *out, size_t size)
{
    struct zst_reader *reader = cookie;
    ZSTD_outBuffer output = { out, size, 0 };

    while (output.pos == 0) {
        size_t before = reader->input.pos, left;

        if (reader->input.pos == reader->input.size && !fill(reader)) {
            /* A frame that has begun and will not end. */
            if (reader->in_frame)
                give_up(reader, 0);
            reader->damage->bytes += reader->in_frame;
            reader->in_frame = false;
            return 0;
        }
        left = ZSTD_decompressStream(reader->codec, &output, &reader->input);
        if (ZSTD_isError(left)) {
            reader->input.pos = before;
            if (!resynchronise(reader))
                break;
            continue;
        }
        reader->in_frame = left > 0;
    }
    return (ssize_t)output.pos;
}

/* Back to the beginning is all that is asked for. */
static int seek(void *cookie, off64_t *offset, int whence)
{
    struct zst_reader *reader = cookie;

    if (whence != SEEK_SET || *offset != 0 || lseek(reader->fd, 0, SEEK_SET) != 0)
        return -1;
    (void)ZSTD_DCtx_reset(reader->codec, ZSTD_reset_session_only);
    reader->input.pos = reader->input.size = 0;
    reader->read = 0;
    reader->in_frame = reader->at_end = false;
    *reader->damage = (struct zst_damage){ 0 };
    return 0;
}

static int finish(void *cookie)
{
    struct zst_reader *reader = cookie;

    if (reader->fd >= 0)
        close(reader->fd);
    ZSTD_freeDCtx(reader->codec);
    free(reader->buffer);
    free(reader);
    return 0;
}

FILE *zst_open(const char *path, struct zst_damage *damage)
{
    struct zst_reader *reader = calloc(1, sizeof(*reader));
    FILE *file = NULL;

    if (!reader)
        return NULL;
    *damage = (struct zst_damage){ 0 };
    reader->damage = damage;
    reader->codec = ZSTD_createDCtx();
    reader->buffer = malloc(BUFFER_SIZE);
    reader->input.src = reader->buffer;
    reader->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (reader->fd >= 0 && reader->codec && reader->buffer)
        file = fopencookie(
            reader, "r",
            (cookie_io_functions_t){ .read = read_text, .seek = seek, .close = finish });
    if (!file) {
        int error = reader->fd < 0 ? errno : ENOMEM;

        (void)finish(reader);
        errno = error;
    }
    return file;
}

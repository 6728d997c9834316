/*
 * wrap_pages CLOCK OUT CPU0 [CPU1 …]: raw 4 KiB pages of this kernel as a trace.dat whose clock is
 * CLOCK. trace-cmd's restore, which does the same, writes the top buffer's clock whatever the pages
 * were stamped with.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kernel_catalog.h"
#include "tracefs_instance.h"
#include "tracerd/dat_writer.h"

#define PAGE_SIZE 4096

static int write_at(void *context, uint64_t offset, const void *bytes, size_t size)
{
    return pwrite(*(int *)context, bytes, size, (off_t)offset) == (ssize_t)size ? 0 : -EIO;
}

static int move(void *context, uint64_t from, uint64_t to, uint64_t size)
{
    static uint8_t piece[1 << 16];
    int result = 0;

    while (result == 0 && size > 0) {
        size_t part = size < sizeof(piece) ? size : sizeof(piece);

        if (pread(*(int *)context, piece, part, (off_t)from) != (ssize_t)part)
            return -EIO;
        result = write_at(context, to, piece, part);
        from += part;
        to += part;
        size -= part;
    }
    return result;
}

static int resize(void *context, uint64_t size)
{
    return ftruncate(*(int *)context, (off_t)size) == 0 ? 0 : -errno;
}

static int write_cpu(struct trd_dat_writer *writer, uint32_t cpu, const char *path)
{
    size_t size = 0;
    char *pages = read_whole(path, &size);
    int result = pages ? 0 : -1;

    for (size_t at = 0; result == 0 && at + PAGE_SIZE <= size; at += PAGE_SIZE)
        result = trd_dat_writer_page(writer, cpu, (const uint8_t *)pages + at, PAGE_SIZE);
    free(pages);
    return result;
}

int main(int argc, char **argv)
{
    int out = argc > 3 ? open(argv[2], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    const struct trd_dat_target target = {
        .write = write_at, .move = move, .resize = resize, .context = &out
    };
    const struct trd_dat_options options = { .cpu_count = (uint32_t)argc - 3,
                                             .cpu_max = (uint32_t)argc - 3,
                                             .page_size = PAGE_SIZE,
                                             .clock = argv[1],
                                             .uname = "" };
    struct trd_catalog *catalog = out >= 0 ? kernel_catalog_create() : NULL;
    struct trd_dat_writer *writer = NULL;
    int result = catalog ? trd_dat_writer_create(&writer, &target, &options) : -1;

    if (result == 0)
        result = trd_dat_writer_set_catalog(writer, catalog);
    for (int i = 3; result == 0 && i < argc; i++)
        result = write_cpu(writer, (uint32_t)i - 3, argv[i]);
    if (result == 0)
        result = trd_dat_writer_end(writer);
    trd_dat_writer_destroy(writer);
    trd_catalog_destroy(catalog);
    if (out >= 0 && close(out) != 0)
        result = -errno;
    if (result != 0)
        fprintf(stderr, "wrap_pages: %d\n", result);
    return result != 0;
}

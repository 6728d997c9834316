/*
 * wrap_pages CLOCK OUT CPU0 [CPU1 …]: raw 4 KiB pages of this kernel as a trace.dat whose clock is
 * CLOCK. trace-cmd's restore, which does the same, writes the top buffer's clock whatever the pages
 * were stamped with.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kernel_catalog.h"
#include "tracefs_instance.h"
#include "tracerd/dat_writer.h"

#define PAGE_SIZE 4096

static int write_at(void *context, uint64_t offset, const void *bytes, size_t size)
{
    FILE *out = context;

    return fseeko(out, (off_t)offset, SEEK_SET) == 0 && fwrite(bytes, 1, size, out) == size ? 0
                                                                                            : -5;
}

static int move(void *context, uint64_t from, uint64_t to, uint64_t size)
{
    FILE *out = context;

    for (; size > 0; from++, to++, size--) {
        int byte = fseeko(out, (off_t)from, SEEK_SET) == 0 ? getc(out) : EOF;

        if (byte == EOF || fseeko(out, (off_t)to, SEEK_SET) != 0 || putc(byte, out) == EOF)
            return -5;
    }
    return 0;
}

static int resize(void *context, uint64_t size)
{
    FILE *out = context;

    return fflush(out) == 0 && ftruncate(fileno(out), (off_t)size) == 0 ? 0 : -5;
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
    FILE *out = argc > 3 ? fopen(argv[2], "w+b") : NULL;
    const struct trd_dat_target target = { write_at, move, resize, out };
    const struct trd_dat_options options = { .cpu_count = (uint32_t)argc - 3,
                                             .cpu_max = (uint32_t)argc - 3,
                                             .page_size = PAGE_SIZE,
                                             .clock = argv[1],
                                             .uname = "" };
    struct trd_catalog *catalog = out ? kernel_catalog_create() : NULL;
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
    if (out && fclose(out) != 0)
        result = -1;
    if (result != 0)
        fprintf(stderr, "wrap_pages: %d\n", result);
    return result != 0;
}

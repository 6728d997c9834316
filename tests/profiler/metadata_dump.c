/*
 * What names come from in the metadata of the assemblies given, as the profiler reads it out of a
 * loaded image: as the file has it, and, to be the same, with its sections where they want to be.
 * The text that tests/managed/metadata writes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "metadata_image.h"
#include "metadata_read.h"
#include "metadata_tables.h"

struct image {
    const uint8_t *bytes;
    size_t size;
};

static void give_up(const char *file, const char *what)
{
    fprintf(stderr, "metadata_dump: %s: %s\n", file, what);
    exit(1);
}

static struct image map(const char *file)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    struct stat status;
    void *bytes;

    if (fd < 0 || fstat(fd, &status) != 0)
        give_up(file, "cannot be opened");
    bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED)
        give_up(file, "cannot be mapped");
    return (struct image){ bytes, (size_t)status.st_size };
}

/* Each section at its address, as a runtime loads it. */
static struct image load(const struct image *file)
{
    const uint8_t *pe = file->bytes + read_u32(file->bytes + 0x3c);
    const uint8_t *optional = pe + 24, *sections = optional + read_u16(pe + 20);
    size_t size = read_u32(optional + 56);
    uint8_t *bytes = calloc(1, size);

    if (!bytes)
        give_up("image", "no memory");
    memcpy(bytes, file->bytes, read_u32(optional + 60));
    for (unsigned i = 0; i < read_u16(pe + 6); i++) {
        const uint8_t *section = sections + i * 40;

        memcpy(bytes + read_u32(section + 12), file->bytes + read_u32(section + 20),
               read_u32(section + 16));
    }
    return (struct image){ bytes, size };
}

static void find(const char *file, const struct image *image, bool is_flat,
                 struct metadata_tables *out)
{
    size_t cor, root, size;

    if (!metadata_image_cor(image->bytes, is_flat, &cor) ||
        !metadata_image_root(image->bytes, is_flat, image->bytes + cor, &root, &size) ||
        root + size > image->size || !metadata_tables_parse(image->bytes + root, size, out))
        give_up(file, is_flat ? "no metadata in the file" : "no metadata in the image");
}

static void put(FILE *out, const struct metadata_text *text)
{
    fwrite(text->bytes, 1, text->size, out);
}

static void put_parameters(FILE *out, const struct metadata_tables *tables, bool of_method,
                           uint32_t row)
{
    struct metadata_text name;

    for (unsigned i = 0; metadata_tables_parameter(tables, of_method, row, i, &name); i++) {
        fputc(' ', out);
        put(out, &name);
    }
    fputc('\n', out);
}

static void dump(FILE *out, const struct metadata_tables *tables)
{
    struct metadata_text space, name;
    uint32_t other;
    bool nested;

    for (uint32_t row = 1; metadata_tables_type(tables, row, &nested, &space, &name); row++) {
        if (!nested || !metadata_tables_enclosing(tables, row, &other))
            other = 0;
        fprintf(out, "T %u %u ", other, metadata_tables_has_method(tables, row, "SetStateMachine"));
        put(out, &space);
        if (space.size > 0)
            fputc('.', out);
        put(out, &name);
        put_parameters(out, tables, false, row);
    }
    for (uint32_t row = 1; metadata_tables_method(tables, row, &other, &name); row++) {
        fprintf(out, "M %u ", other);
        put(out, &name);
        put_parameters(out, tables, true, row);
    }
    for (uint32_t row = 1; metadata_tables_field(tables, row, &name); row++) {
        fputs("F ", out);
        put(out, &name);
        fputc('\n', out);
    }
}

static void dump_file(const char *path)
{
    struct image file = map(path), loaded = load(&file);
    struct metadata_tables flat, moved;
    char *texts[2];
    size_t sizes[2];
    FILE *out;

    find(path, &file, true, &flat);
    find(path, &loaded, false, &moved);
    for (int i = 0; i < 2; i++) {
        out = open_memstream(&texts[i], &sizes[i]);
        dump(out, i == 0 ? &flat : &moved);
        fclose(out);
    }
    if (sizes[0] != sizes[1] || memcmp(texts[0], texts[1], sizes[0]) != 0)
        give_up(path, "not the same in the file and in the image");
    printf("A %s\n", path);
    fwrite(texts[0], 1, sizes[0], stdout);
    free(texts[0]);
    free(texts[1]);
    free((void *)(uintptr_t)loaded.bytes);
    munmap((void *)(uintptr_t)file.bytes, file.size);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        dump_file(argv[i]);
    return 0;
}

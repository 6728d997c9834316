/*
 * Writes the inputs of tests/data/trace_dat, one folder a case: make_dat_cases FOLDER. What is
 * expected of each stands beside it, written by hand; test_reader_cases compares. Not run by tests:
 * the files are what they are.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "dat_maker.h"

#define START 1000

struct dat_case {
    const char *name;
    int version;
    const char *codec;
    uint32_t faults;
    bool big_endian;
    uint8_t long_size;
    bool instance;
    uint64_t lost;       /* before the third tick of CPU 1 */
    uint16_t option;     /* an option with this id and some bytes */
    size_t cut;          /* bytes kept behind the first page, 0 = all */
    int patch_boundary;  /* where to write patch, from the end if negative; 0 = nowhere */
    size_t patch_offset; /* from there */
    uint64_t patch;
    size_t patch_size;
};

static const struct dat_case cases[] = {
    { .name = "v6", .version = 6, .codec = "none", .long_size = 8 },
    { .name = "v6-32-bit-big-endian-two-instances",
      .version = 6,
      .codec = "none",
      .long_size = 4,
      .big_endian = true,
      .instance = true },
    { .name = "v6-unknown-option", .version = 6, .codec = "none", .long_size = 8, .option = 200 },
    { .name = "v6-cut", .version = 6, .codec = "none", .long_size = 8, .cut = 60 },
    { .name = "v6-latency",
      .version = 6,
      .codec = "none",
      .long_size = 8,
      .faults = DAT_MAKER_LATENCY },
    { .name = "v7", .version = 7, .codec = "none", .long_size = 8 },
    { .name = "v7-unknown-option-and-section",
      .version = 7,
      .codec = "none",
      .long_size = 8,
      .option = 200,
      .faults = DAT_MAKER_UNKNOWN_SECTION },
    { .name = "v7-zlib", .version = 7, .codec = "zlib", .long_size = 8 },
    { .name = "v7-zstd-packed-options-two-instances",
      .version = 7,
      .codec = "zstd",
      .long_size = 8,
      .instance = true,
      .faults = DAT_MAKER_PACKED_OPTIONS },
    { .name = "v7-zstd-sizes-four-too-small",
      .version = 7,
      .codec = "zstd",
      .long_size = 8,
      .faults = DAT_MAKER_SHORT_SECTIONS | DAT_MAKER_SHORT_RUNS },
    { .name = "v7-lz4", .version = 7, .codec = "lz4", .long_size = 8 },
    { .name = "v7-lost-events", .version = 7, .codec = "none", .long_size = 8, .lost = 4416 },
    { .name = "v7-lost-events-uncounted",
      .version = 7,
      .codec = "zstd",
      .long_size = 8,
      .lost = PAGE_MAKER_LOST_UNKNOWN },
    { .name = "v7-cut-in-a-page", .version = 7, .codec = "none", .long_size = 8, .cut = 60 },
    { .name = "v7-cut-in-a-chunk", .version = 7, .codec = "zlib", .long_size = 8, .cut = 40 },
    { .name = "v7-directory-missing",
      .version = 7,
      .codec = "zstd",
      .long_size = 8,
      .faults = DAT_MAKER_NO_BUFFER_OPTION },
    { .name = "v7-options-in-a-circle",
      .version = 7,
      .codec = "none",
      .long_size = 8,
      .faults = DAT_MAKER_CYCLIC_OPTIONS },
    /* The formats' section: header, then body. */
    { .name = "v7-section-of-2-to-the-63",
      .version = 7,
      .codec = "none",
      .long_size = 8,
      .patch_boundary = 4,
      .patch_offset = 8,
      .patch = UINT64_C(1) << 63,
      .patch_size = 8 },
    { .name = "v7-formats-4-billion",
      .version = 7,
      .codec = "none",
      .long_size = 8,
      .patch_boundary = 3,
      .patch = 0xffffffff,
      .patch_size = 4 },
    { .name = "v6-options-2-to-the-31",
      .version = 6,
      .codec = "none",
      .long_size = 8,
      .option = 200,
      .patch_boundary = 8,
      .patch_offset = 2,
      .patch = UINT64_C(1) << 31,
      .patch_size = 4 },
};

static void fill(struct dat_maker *maker, const struct dat_case *dat_case)
{
    struct dat_maker_buffer *buffers[2];

    dat_maker_init(maker, dat_case->version, dat_case->codec);
    maker->big_endian = dat_case->big_endian;
    maker->long_size = dat_case->long_size;
    maker->faults = dat_case->faults;
    maker->page_size = 1024;
    if (dat_case->option)
        dat_maker_option(maker, dat_case->option, "twelve bytes", 12);
    buffers[0] = buffers[1] = dat_maker_buffer(maker, "", "mono", 1024, 2);
    if (dat_case->instance)
        buffers[1] = dat_maker_buffer(maker, "other", "mono", 1024, 2);
    for (uint32_t i = 0; i < 8; i++) {
        if (i == 5 && dat_case->lost)
            dat_maker_lose(maker, buffers[i / 2 % 2], 1, dat_case->lost);
        dat_maker_tick(maker, buffers[i / 2 % 2], i % 2, START + i * 10, 100 + (int32_t)(i % 2), i);
    }
}

static int write_case(const char *folder, const struct dat_case *dat_case)
{
    struct dat_maker maker;
    const struct dat_maker_bytes *file;
    char path[512];
    size_t size;
    FILE *out;

    fill(&maker, dat_case);
    file = dat_maker_write(&maker);
    size = dat_case->cut ? maker.data_begin + dat_case->cut : file->size;
    if (dat_case->patch_boundary)
        page_maker_put(file->bytes + maker.boundaries[dat_case->patch_boundary] +
                           dat_case->patch_offset,
                       dat_case->patch, dat_case->patch_size, maker.big_endian);
    (void)snprintf(path, sizeof(path), "%s/%s", folder, dat_case->name);
    if (mkdir(path, 0755) != 0 && errno != EEXIST)
        return -errno;
    (void)snprintf(path, sizeof(path), "%s/%s/input", folder, dat_case->name);
    out = fopen(path, "w");
    if (!out)
        return -errno;
    if (fwrite(file->bytes, 1, size, out) != size || fclose(out) != 0)
        return -EIO;
    dat_maker_finish(&maker);
    return 0;
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof(cases) / sizeof(cases[0]); i++)
        if (write_case(argv[1], &cases[i]) != 0) {
            fprintf(stderr, "cannot write case %s to %s\n", cases[i].name, argv[1]);
            return 1;
        }
    return argc == 2 ? 0 : 2;
}

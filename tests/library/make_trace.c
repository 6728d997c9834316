/* Writes a small trace.dat whose story is known: two CPUs, 600 ticks, then 5 lost, then one more.
 */
#include <stdio.h>

#include "dat_maker.h"

#define START UINT64_C(1000000000)

int main(int argc, char **argv)
{
    struct dat_maker_buffer *top;
    const struct dat_maker_bytes *file;
    struct dat_maker maker;
    bool written;
    FILE *out;

    if (argc != 2)
        return 2;
    dat_maker_init(&maker, 7, "zstd");
    top = dat_maker_buffer(&maker, "", "mono", 4096, 2);
    for (uint32_t i = 0; i < 600; i++)
        dat_maker_tick(&maker, top, i % 2, START + i, 42, i);
    dat_maker_lose(&maker, top, 1, 5);
    dat_maker_tick(&maker, top, 1, START + 600, 42, 600);
    file = dat_maker_write(&maker);
    out = fopen(argv[1], "wb");
    written = out && fwrite(file->bytes, 1, file->size, out) == file->size;
    written = out && fclose(out) == 0 && written;
    dat_maker_finish(&maker);
    return written ? 0 : 1;
}

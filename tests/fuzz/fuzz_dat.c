/* A whole trace.dat of foreign bytes: opened, read to its end, accounted for. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "tracerd/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct trd_reader *reader;
    struct trd_record record;
    char error[256];
    uint32_t sum = 0;

    if (trd_reader_open_memory(&reader, bytes, size, error, sizeof(error)) != 0)
        return 0;
    while (trd_reader_next(reader, &record) == 1)
        for (uint32_t i = 0; i < record.size; i++)
            sum += record.data[i]; /* every byte of a record can be read */
    for (size_t i = 0; trd_reader_damage(reader, i); i++)
        sum += (uint32_t)trd_reader_damage(reader, i)->bytes;
    trd_reader_destroy(reader);
    return sum == 0xffffffff ? -1 : 0;
}

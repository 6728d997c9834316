/* Little-endian numbers at any address, for the metadata_*.c. */
#ifndef TRD_PROFILER_METADATA_READ_H
#define TRD_PROFILER_METADATA_READ_H

#include <stdint.h>
#include <string.h>

static inline uint16_t read_u16(const uint8_t *bytes)
{
    uint16_t value;

    memcpy(&value, bytes, sizeof(value));
    return value;
}

static inline uint32_t read_u32(const uint8_t *bytes)
{
    uint32_t value;

    memcpy(&value, bytes, sizeof(value));
    return value;
}

static inline uint64_t read_u64(const uint8_t *bytes)
{
    uint64_t value;

    memcpy(&value, bytes, sizeof(value));
    return value;
}

#endif

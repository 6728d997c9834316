#include "buffer.h"

#include <errno.h>
#include <stdlib.h>

/* Moves *text behind the number and its unit; 0 for what is none, or more than fits. */
static uint32_t take_size(const char **text)
{
    static const struct {
        char name;
        unsigned shift;
    } units[] = { { 'K', 10 }, { 'M', 20 }, { 'G', 30 } };
    unsigned long long number;
    unsigned shift = 0;
    char *end;

    if (**text < '0' || **text > '9')
        return 0;
    errno = 0;
    number = strtoull(*text, &end, 10);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (*end == units[i].name)
            shift = units[i].shift;
    *text = end + (shift > 0);
    return errno == 0 && number <= UINT32_MAX >> shift ? (uint32_t)number << shift : 0;
}

static uint32_t ring_of_total(uint32_t total_bytes)
{
    uint32_t ring_bytes = TRD_RING_SIZE_MIN;

    while (ring_bytes < TRD_RING_SIZE_MAX && ring_bytes * 2 <= total_bytes / 8)
        ring_bytes *= 2;
    return ring_bytes;
}

bool trd_buffer_is_sound(const struct trd_buffer *buffer)
{
    if (buffer->total_bytes == 0 && buffer->ring_bytes == 0)
        return true;
    return buffer->ring_bytes >= TRD_RING_SIZE_MIN && buffer->ring_bytes <= TRD_RING_SIZE_MAX &&
           (buffer->ring_bytes & (buffer->ring_bytes - 1)) == 0 &&
           buffer->total_bytes / TRD_BUFFER_TOTAL_RINGS >= buffer->ring_bytes &&
           buffer->total_bytes <= TRD_BUFFER_TOTAL_MAX;
}

int trd_buffer_parse(const char *text, struct trd_buffer *out)
{
    struct trd_buffer buffer = { .total_bytes = take_size(&text) };

    if (buffer.total_bytes == 0)
        return -EINVAL;
    if (*text == '/') {
        text++;
        buffer.ring_bytes = take_size(&text);
    } else {
        buffer.ring_bytes = ring_of_total(buffer.total_bytes);
    }
    if (*text != '\0' || !trd_buffer_is_sound(&buffer))
        return -EINVAL;
    *out = buffer;
    return 0;
}

/* One ring page of foreign bytes; the first byte chooses the layout. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "tracerd/page.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct trd_page_layout layout = { .commit_offset = 8 };
    struct trd_page_event event;
    struct trd_page page;
    size_t steps = 0;

    if (size == 0)
        return -1;
    layout.big_endian = bytes[0] & 1;
    layout.long_size = layout.commit_size = bytes[0] & 2 ? 4 : 8;
    layout.data_offset = (uint16_t)(bytes[0] & 4 ? 12 : 16);
    bytes++;
    size--;
    (void)trd_page_init(&page, bytes, size, &layout);
    while (trd_page_next(&page, &event) == 1)
        if (event.data < bytes || event.data + event.size > bytes + size || ++steps > size / 4)
            abort();
    if (trd_page_next(&page, &event) != 0)
        abort();
    return 0;
}

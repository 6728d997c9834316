#include "gate.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

static _Atomic uint32_t closed;
_Atomic uint32_t *gate_mask = &closed;

int gate_init(void)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *page;

    if (gate_mask != &closed)
        return 0;
    page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return -errno;
    /* Refused before Linux 4.14: there a child that never execs would write into our rings. */
    if (madvise(page, size, MADV_WIPEONFORK) != 0) {
        int error = errno;

        munmap(page, size);
        return -error;
    }
    gate_mask = page;
    return 0;
}

void gate_open(uint32_t categories)
{
    atomic_store_explicit(gate_mask, categories | TRD_CATEGORY_BIT(RUNTIME), memory_order_release);
}

void gate_close(void)
{
    atomic_store_explicit(gate_mask, 0, memory_order_release);
}

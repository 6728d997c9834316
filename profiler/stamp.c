#include "stamp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach.h"

#define TRIES 5

bool stamp_is_tsc;
struct stamp_pair stamp_started;

/* The kernel has looked whether the counters of all processors agree and never stop. */
static bool kernel_trusts_tsc(void)
{
    FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
    char name[32] = "";
    bool is_tsc = file && fgets(name, sizeof(name), file) && strcmp(name, "tsc\n") == 0;

    if (file)
        fclose(file);
    return is_tsc;
}

bool stamp_init(void)
{
    const char *wanted = getenv(TRD_ENV_STAMP);

    if (stamp_is_tsc || !wanted || !*wanted || strcmp(wanted, "monotonic") == 0)
        return true;
    if (strcmp(wanted, "tsc") != 0)
        return false;
#if defined(__x86_64__)
    stamp_is_tsc = kernel_trusts_tsc();
#else
    (void)kernel_trusts_tsc;
#endif
    if (stamp_is_tsc)
        stamp_read_pair(&stamp_started);
    return stamp_is_tsc;
}

void stamp_read_pair(struct stamp_pair *out)
{
    out->window = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = stamp_tsc();
        uint64_t ns = stamp_monotonic_ns();
        uint64_t window = stamp_tsc() - before;

        if (window < out->window)
            *out = (struct stamp_pair){ .tsc = before + window / 2, .ns = ns, .window = window };
    }
}

#include "interrupt.h"

#include <signal.h>
#include <stdlib.h>

#include "log.h"

static void on_signal(uv_signal_t *handle, int signal)
{
    struct interrupt *interrupt = handle->data;

    if (interrupt->count++ == 0) {
        interrupt->stop(interrupt->context, signal);
        return;
    }
    /* What the kernel still holds of ours is removed by the next start, which looks for it. */
    log_notice("interrupted again: ending without draining");
    _Exit(128 + signal);
}

int interrupt_start(struct interrupt *interrupt, uv_loop_t *loop,
                    void (*stop)(void *context, int signal), void *context)
{
    static const int signals[2] = { SIGINT, SIGTERM };
    int result = 0;

    interrupt->stop = stop;
    interrupt->context = context;
    interrupt->count = 0;
    for (int i = 0; i < 2; i++) {
        uv_signal_init(loop, &interrupt->signals[i]);
        interrupt->signals[i].data = interrupt;
        uv_unref((uv_handle_t *)&interrupt->signals[i]);
        if (result == 0)
            result = uv_signal_start(&interrupt->signals[i], on_signal, signals[i]);
    }
    return result;
}

void interrupt_stop(struct interrupt *interrupt)
{
    for (int i = 0; i < 2; i++)
        uv_close((uv_handle_t *)&interrupt->signals[i], NULL);
}

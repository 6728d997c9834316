#include "ftrace_symbols.h"

#include <signal.h>
#include <stdlib.h>

#include "tracefs_linux.h"

static void *read_text(void *context)
{
    struct ftrace_symbols *symbols = context;

    symbols->text = read_whole_file(FTRACE_SYMBOLS_PATH, &symbols->size);
    return NULL;
}

/* Signals are the loop's. */
void ftrace_symbols_start(struct ftrace_symbols *symbols)
{
    sigset_t all, before;

    *symbols = (struct ftrace_symbols){ 0 };
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    symbols->has_thread = pthread_create(&symbols->thread, NULL, read_text, symbols) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

char *ftrace_symbols_take(struct ftrace_symbols *symbols, size_t *out_size)
{
    char *text;

    if (symbols->has_thread)
        pthread_join(symbols->thread, NULL);
    else
        (void)read_text(symbols);
    symbols->has_thread = false;
    text = symbols->text;
    symbols->text = NULL;
    *out_size = symbols->size;
    return text;
}

void ftrace_symbols_finish(struct ftrace_symbols *symbols)
{
    if (symbols->has_thread)
        pthread_join(symbols->thread, NULL);
    symbols->has_thread = false;
    free(symbols->text);
    symbols->text = NULL;
}

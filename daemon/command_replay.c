#include <stdlib.h>

#include "commands.h"
#include "interrupt.h"
#include "log.h"
#include "sources.h"

static void on_done(struct pipeline *pipeline, void *context)
{
    (void)pipeline;
    interrupt_stop(context);
}

static void on_interrupt(void *context, int signal)
{
    (void)signal;
    pipeline_stop(context);
}

/* Every file that can be read is replayed, whatever became of the others. */
static void open_files(struct pipeline *pipeline, const struct options *options)
{
    for (int i = 0; i < options->argument_count; i++)
        if (source_file_open(pipeline, options->arguments[i]) != 0)
            pipeline_set_partial(pipeline);
}

int command_replay(const struct options *options)
{
    struct interrupt interrupt;
    struct pipeline *pipeline;
    uv_loop_t loop;
    int result;

    uv_loop_init(&loop);
    result = pipeline_create(&pipeline, &loop, options, on_done, &interrupt);
    if (result == 0) {
        (void)interrupt_start(&interrupt, &loop, on_interrupt, pipeline);
        open_files(pipeline, options);
        pipeline_finish_when_ended(pipeline);
        uv_run(&loop, UV_RUN_DEFAULT);
        result = pipeline_exit_code(pipeline);
    }
    pipeline_destroy(pipeline);
    uv_loop_close(&loop);
    return result;
}

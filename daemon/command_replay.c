#include <stdlib.h>
#include <sys/stat.h>

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
    log_notice("interrupted: the rest of the files was not read");
    pipeline_set_partial(context);
    pipeline_stop(context);
}

/* Opening the output would empty the input. */
static bool writes_over_input(const struct options *options)
{
    struct stat input, output;

    for (size_t i = 0; i < options->output_count; i++)
        for (int j = 0; j < options->argument_count; j++)
            if (stat(options->outputs[i], &output) == 0 &&
                stat(options->arguments[j], &input) == 0 && input.st_dev == output.st_dev &&
                input.st_ino == output.st_ino) {
                log_error("%s is an input, it cannot be the output too", options->arguments[j]);
                return true;
            }
    return false;
}

int command_replay(const struct options *options)
{
    struct interrupt interrupt;
    struct pipeline *pipeline;
    uv_loop_t loop;
    int result;

    if (writes_over_input(options))
        return EXIT_USAGE;
    uv_loop_init(&loop);
    result = pipeline_create(&pipeline, &loop, options, on_done, &interrupt);
    if (result == 0) {
        (void)interrupt_start(&interrupt, &loop, on_interrupt, pipeline);
        source_files_open(pipeline, options->arguments, (size_t)options->argument_count);
        result = pipeline_check_filter(pipeline);
        result = result ? result : pipeline_check_clock(pipeline);
        if (result == 0)
            pipeline_finish_when_ended(pipeline);
        else
            pipeline_stop(pipeline);
        uv_run(&loop, UV_RUN_DEFAULT);
        if (result == 0)
            result = pipeline_exit_code(pipeline);
    }
    pipeline_destroy(pipeline);
    uv_loop_close(&loop);
    return result;
}

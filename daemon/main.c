/* The program: options to a command. */
#include <signal.h>
#include <stdio.h>

#include "commands.h"
#include "log.h"

int main(int argc, char **argv)
{
    struct options options;
    int result = options_parse(&options, argc, argv);

    if (result != 0)
        return result;
    log_init(options.quiet, options.verbose);
    /* A reader that goes away is told by write's own error. */
    signal(SIGPIPE, SIG_IGN);
    switch (options.command) {
    case COMMAND_HELP:
        options_print_help();
        return EXIT_COMPLETE;
    case COMMAND_VERSION:
        printf("tracerd %s\n", TRACERD_VERSION);
        return EXIT_COMPLETE;
    case COMMAND_RUN:
        return command_run(&options);
    case COMMAND_ATTACH:
        return command_attach(&options);
    case COMMAND_REPLAY:
        return command_replay(&options);
    case COMMAND_DOCTOR:
        return command_doctor(&options);
    case COMMAND_TRIGGER:
        return command_trigger(&options);
    case COMMAND_SERVICE:
        return command_service(&options);
    }
    return EXIT_USAGE;
}

/* The commands of the program, one file each; every one returns the process's exit code. */
#ifndef TRACERD_DAEMON_COMMANDS_H
#define TRACERD_DAEMON_COMMANDS_H

#include "options.h"

int command_run(const struct options *options);
int command_attach(const struct options *options);
int command_replay(const struct options *options);
int command_doctor(const struct options *options);
int command_trigger(const struct options *options);
int command_service(const struct options *options);

#endif

/* The flight recorder's options among each other. */
#ifndef TRACERD_DAEMON_OPTIONS_FLIGHT_H
#define TRACERD_DAEMON_OPTIONS_FLIGHT_H

#include "options.h"

/* Reads --flight. 0, or EXIT_USAGE after one sentence. */
int options_check_flight(struct options *options);

#endif

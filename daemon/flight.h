/*
 * The flight recorder: the last seconds are kept in memory, the kernel's pages as they are and the
 * CLR's events as they came, and become a recording when the trigger fires. A sink of the live
 * pipeline; each recording is a pipeline of its own that reads the window.
 */
#ifndef TRACERD_DAEMON_FLIGHT_H
#define TRACERD_DAEMON_FLIGHT_H

#include "pipeline.h"

struct flight;

/* 0, or EXIT_… after one sentence. The options must outlive the pipeline, which frees it. */
int flight_open(struct flight **out, struct pipeline *pipeline, const struct options *options);
/* Once the sources are open: EXIT_USAGE after a sentence if an expression names what no event has.
 */
int flight_check(const struct flight *flight);
/* The options of the live pipeline: everything is taken, nothing is written. */
struct options flight_live_options(const struct options *options);

#endif

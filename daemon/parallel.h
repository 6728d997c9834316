/*
 * A single trace.dat on all cores: its plain part comes as ready lines (tracerd/lines.h), selected,
 * counted and noted on the threads that read it, as the pipeline would do record by record. Belongs
 * to the pipeline.
 */
#ifndef TRACERD_DAEMON_PARALLEL_H
#define TRACERD_DAEMON_PARALLEL_H

#include "options.h"
#include "summary.h"
#include "tracerd/lines.h"

struct parallel;

/* NULL if the file cannot be read so: then the reader is as it was. */
struct parallel *parallel_create(struct trd_reader *reader, const struct options *options,
                                 uint64_t seq);
/* As trd_lines_next; `stopping`: what is under way is the last. */
int parallel_next(struct parallel *parallel, bool stopping, struct trd_lines_batch *out);
/* Once it returned 0: adds what was counted and noted. `summary` may be NULL. */
void parallel_sum_up(struct parallel *parallel, struct tally *tally, struct summary *summary);
void parallel_destroy(struct parallel *parallel);

#endif

/*
 * Keeps the state of threads and processes while records pass by in time order: managed thread
 * names, names of methods and modules, what the runtime is doing; fills record.thread and
 * record.pid where they are known, and derives spans (GC pause, suspension) from begin and end
 * events. A begin whose end was lost is closed at the loss and marked incomplete.
 */
#ifndef TRACERD_ENRICH_H
#define TRACERD_ENRICH_H

#include <stddef.h>
#include <stdint.h>

#include "tracerd/json.h"
#include "tracerd/record.h"

struct trd_enrich;

int trd_enrich_create(struct trd_enrich **out);
void trd_enrich_destroy(struct trd_enrich *enrich);

/* tid belongs to process pid (learnt from /proc, sched_process_fork or a CLR source). */
int trd_enrich_set_thread(struct trd_enrich *enrich, int32_t tid, int32_t pid);
/* Forgets a process that ended; closes its open spans at ts_ns, to be fetched with _derived. */
void trd_enrich_end_process(struct trd_enrich *enrich, int32_t pid, uint64_t ts_ns);

/* Takes note of the record and completes it in place. Call in stream order. */
int trd_enrich_record(struct trd_enrich *enrich, struct trd_record *record);
/* Records that the last calls derived (spans, definitions): 1 and one of them, 0 = none left. */
int trd_enrich_derived(struct trd_enrich *enrich, struct trd_record *out);
/* End of the trace: closes every open span at ts_ns as incomplete. */
void trd_enrich_finish(struct trd_enrich *enrich, uint64_t ts_ns);

/* For trd_json_create. */
const struct trd_json_names *trd_enrich_names(struct trd_enrich *enrich);

#endif

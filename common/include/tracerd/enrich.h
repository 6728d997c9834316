/*
 * Keeps the state of threads and processes while records pass by in time order: managed thread
 * names, names of methods and modules, what the runtime is doing; fills record.thread and
 * record.pid where they are known. Derives
 *   - spans from begin and end events: clr:gc_pause, clr:suspension, clr:gc, clr:jit, clr:call,
 * clr:contention, and, asked for, sched:offcpu. A span comes when it ends and carries its begin as
 * ts_ns, so its place in the stream is its end. A begin whose end was lost is closed at the loss
 * and marked incomplete;
 *   - definitions of threads, methods, modules and assemblies when they are named first or anew.
 * Knows whose code lay at an address of a process at a time (clr:code, codemap.h), for the writer
 * of lines. Schemas of records must outlive it.
 */
#ifndef TRACERD_ENRICH_H
#define TRACERD_ENRICH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracerd/export.h"
#include "tracerd/json.h"
#include "tracerd/record.h"

struct trd_enrich;

TRD_EXPORT int trd_enrich_create(struct trd_enrich **out);
TRD_EXPORT void trd_enrich_destroy(struct trd_enrich *enrich);

/* tid belongs to process pid (learnt from /proc, sched_process_fork or a CLR source). -ENOMEM also
 * when more threads are known than can be. */
TRD_EXPORT int trd_enrich_set_thread(struct trd_enrich *enrich, int32_t tid, int32_t pid);
/*
 * From now on sched:offcpu spans of at least min_ns are made of sched:sched_switch and
 * sched:sched_waking: of threads whose process is known, with `all` of every thread. As long as no
 * process is known at all, as in a trace.dat without the CLR's half, of every thread too.
 */
TRD_EXPORT void trd_enrich_derive_offcpu(struct trd_enrich *enrich, uint64_t min_ns, bool all);

/* Calls `each` for every thread whose process is known. */
TRD_EXPORT void trd_enrich_each_thread(const struct trd_enrich *enrich,
                                       void (*each)(void *context, int32_t tid, int32_t pid),
                                       void *context);
/*
 * The process ended, or whoever told of it: closes its open spans at ts_ns, to be fetched with
 * _derived. What is known of it is forgotten a second of the stream later, unless it speaks again.
 */
TRD_EXPORT void trd_enrich_end_process(struct trd_enrich *enrich, int32_t pid, uint64_t ts_ns);

/* Takes note of the record and completes it in place. Call in stream order. 1 if there is something
 * derived to be fetched, 0 if not. */
TRD_EXPORT int trd_enrich_record(struct trd_enrich *enrich, struct trd_record *record);
/* Does the state, or what is derived, depend on this kind of kernel event? It must come here even
 * if nobody wants its line. */
TRD_EXPORT bool trd_enrich_reads(const struct trd_enrich *enrich, const struct trd_schema *schema);
/* Records that were derived and not fetched yet: 1 and the oldest, borrowed until the next call on
 * enrich; 0 = none left. */
TRD_EXPORT int trd_enrich_derived(struct trd_enrich *enrich, struct trd_record *out);
/* End of the trace: closes every open span at ts_ns as incomplete. */
TRD_EXPORT void trd_enrich_finish(struct trd_enrich *enrich, uint64_t ts_ns);

/*
 * Addresses of code that a process runs and nobody told of: takes up to `capacity` of them out,
 * each once, so that the process can be asked whose code lies there (its answer is clr:code). How
 * many.
 */
TRD_EXPORT size_t trd_enrich_wanted(struct trd_enrich *enrich, int32_t pid, uint64_t *out,
                                    size_t capacity);

/* For trd_json_create. */
TRD_EXPORT const struct trd_json_names *trd_enrich_names(struct trd_enrich *enrich);

#endif

/*
 * Keeps questions of the sender's thread apart from unloads. Ids are addresses that the runtime
 * does not check: one out of a list that was taken before an unload may be freed while it is told.
 * So such questions are asked under a lock that the unload of a module takes as well, once, for a
 * moment, and only if nothing was unloaded since the list was taken.
 */
#ifndef TRD_PROFILER_UNLOADS_H
#define TRD_PROFILER_UNLOADS_H

#include <stdbool.h>
#include <stdint.h>

#include "corprof.h"

/* Callbacks: the ids of the module and of what is in it end here. The first waits for the question
 * that is being asked, if there is one, and for no longer than UNLOADS_WAIT_MS. */
#define UNLOADS_WAIT_MS 20
HRESULT on_module_unload_started(void *self, ModuleID module);
void unloads_note_finished(void);

/* The rest is the sender's. */

/* Memory is freed a little behind the last callback: no list is taken, no address looked up, until
 * the last unload is UNLOADS_QUIET_MS past. */
#define UNLOADS_QUIET_MS 20
bool unloads_are_quiet(void);
/* Before a list is taken. */
uint64_t unloads_count(void);
/* True: nothing has been unloaded since, and nothing will be until unloads_let_go. */
bool unloads_hold(uint64_t count);
void unloads_let_go(void);

#endif

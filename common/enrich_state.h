/*
 * What enrich knows of threads and processes. Shared by its files: enrich.c (API, CLR events),
 * enrich_names.c (names behind ids), enrich_spans.c (what is open), enrich_kernel.c (tids that come
 * and go), enrich_code.c (whose code an address belongs to),
 * enrich_offcpu.c (who does not run).
 */
#ifndef TRD_COMMON_ENRICH_STATE_H
#define TRD_COMMON_ENRICH_STATE_H

#include "derived.h"
#include "event_source.h"
#include "idmap.h"
#include "tracerd/codemap.h"
#include "tracerd/enrich.h"

/* Limits on what peers can make grow. Linux has at most 4 million thread ids; names are as many as
 * methods were compiled, at 1 KiB at most. What goes beyond keeps its id and has no name. */
#define ENRICH_THREADS_MAX (1u << 20)
#define ENRICH_PROCESSES_MAX (1u << 16)
#define ENRICH_NAMES_MAX (1u << 20)
#define ENRICH_NAMES_BYTES_MAX (UINT64_C(128) << 20)
/* Kernel tracepoints are a few thousand per kernel. */
#define ENRICH_SCHEMAS_MAX (1u << 17)

/* Runs of code: of one process, of all. Some sixty bytes each. */
#define ENRICH_CODE_OF_PROCESS_MAX (1u << 18)
#define ENRICH_CODE_MAX (1u << 20)
/* Addresses a process was asked about and did not know; then it may be asked again. */
#define ENRICH_ASKED_MAX (1u << 15)
#define ENRICH_WANTED_MAX 256 /* waiting to be asked; more come up again */

#define GC_OPEN_MAX 4  /* a background collection and what runs inside it */
#define JIT_OPEN_MAX 8 /* the JIT runs class constructors, which may be compiled first */
#define CONTENTION_OPEN_MAX 4
#define EXITED_MAX 256

/* The last events of a thread or process come some time after the one that said it ended. */
#define AFTERLIFE_NS UINT64_C(1000000000)

struct text {
    size_t size;
    char bytes[];
};

struct open_span {
    uint64_t ts_ns;
    uint64_t id; /* reason, collection or method */
    int32_t tid;
    /* Another thread of the process lost events since, perhaps the end of this: the last time that
     * this is known to have been open. 0 = no doubt. */
    uint64_t doubt_ns;
};

struct contention {
    struct open_span open; /* id: the lock, 0 where the runtime does not say */
    int32_t owner;         /* tid; 0 if not told */
    bool native;
};

struct open_call {
    uint64_t ts_ns;
    uint64_t method;
};

/* How a traced method told that it ends. */
enum enrich_leave {
    ENRICH_RETURNED,
    ENRICH_TAILCALL,
    ENRICH_UNWOUND,
};

struct thread {
    int32_t tid;
    int32_t pid; /* -1 = unknown */
    bool exited;
    bool is_managed;
    uint64_t clr_thread; /* if managed */
    struct text *name;   /* owned; managed name, NULL = none */
    struct open_span jit[JIT_OPEN_MAX];
    uint32_t jit_count;
    struct contention contention[CONTENTION_OPEN_MAX];
    uint32_t contention_count;
    struct open_call *calls; /* owned; of traced methods, outermost first */
    uint32_t call_count;
    uint32_t call_capacity;
    uint64_t calls_beyond;    /* open inside those, too deep to be kept */
    uint64_t compiled_method; /* the last one that was, 0 = none */
    uint64_t compiled_from_ns;
};

struct process_code {
    struct trd_codemap *map; /* owned */
    struct idmap asked;      /* (address, 0) -> not NULL */
    size_t wanted_count;
    uint64_t wanted[ENRICH_WANTED_MAX];
};

struct process {
    bool ended;
    uint64_t ended_ns;
    bool suspended;
    struct open_span suspension;
    uint64_t stopped_ns; /* all threads stopped; 0 = not yet */
    uint32_t gc_number;  /* last collection begun in this suspension, 0 = none */
    struct open_span gc[GC_OPEN_MAX];
    uint32_t gc_count;
    struct process_code *code; /* owned; NULL = none was told */
};

struct trd_enrich {
    struct idmap threads;   /* (tid, 0) -> struct thread */
    struct idmap processes; /* (pid, 0) -> struct process */
    struct idmap names;     /* (pid and meaning, id) -> struct text */
    uint64_t names_bytes;
    struct idmap clr_tids; /* (pid, ThreadID) -> tid + 1 as a pointer value */
    size_t code_maps;      /* processes with code */
    size_t code_runs;      /* over all of them */
    struct idmap roles;    /* (schema, 0) -> what a kernel event means here */
    bool offcpu, offcpu_all;
    uint64_t offcpu_min_ns;
    struct idmap absences; /* (tid, 0) -> since when it does not run */
    struct event_sources event_sources;
    struct derived derived;
    struct trd_json_names resolver;
    /* Known until the record that says so has been written. */
    bool forget;
    int32_t forget_pid;
    enum trd_meaning forget_meaning;
    uint64_t forget_id;
    uint64_t purge_ns; /* when the first ended process may be forgotten; UINT64_MAX = none */
    int32_t exited[EXITED_MAX]; /* ring of tids that exited */
    uint32_t exited_next;
};

/* NULL if there is none, or no room for a new one. */
struct thread *enrich_get_thread(struct trd_enrich *enrich, int32_t tid);
struct process *enrich_get_process(struct trd_enrich *enrich, int32_t pid);
static inline struct thread *enrich_find_thread(const struct trd_enrich *enrich, int32_t tid)
{
    return tid > 0 ? idmap_get(&enrich->threads, (uint32_t)tid, 0) : NULL;
}
static inline struct process *enrich_find_process(const struct trd_enrich *enrich, int32_t pid)
{
    return pid > 0 ? idmap_get(&enrich->processes, (uint32_t)pid, 0) : NULL;
}
void enrich_drop_thread(struct trd_enrich *enrich, int32_t tid);

/* Names */

const char *enrich_resolve(void *enrich, int32_t pid, enum trd_meaning meaning, uint64_t id,
                           size_t *out_size);
/* True if that is news. */
bool enrich_set_name(struct trd_enrich *enrich, int32_t pid, enum trd_meaning meaning, uint64_t id,
                     const char *bytes, size_t size);
void enrich_forget_name(struct trd_enrich *enrich, int32_t pid, enum trd_meaning meaning,
                        uint64_t id);
/* The managed thread runs on this OS thread now. */
void enrich_assign_thread(struct trd_enrich *enrich, int32_t pid, uint64_t clr_thread, int32_t tid);
/* Its name has changed: the OS thread takes it over. Returns the OS thread, -1 if unknown. */
int32_t enrich_name_thread(struct trd_enrich *enrich, int32_t pid, uint64_t clr_thread);
void enrich_forget_thread(struct trd_enrich *enrich, int32_t pid, uint64_t clr_thread);
/* Everything named or numbered in that process. */
void enrich_forget_process(struct trd_enrich *enrich, int32_t pid);

/* Spans */

void enrich_begin_suspension(struct trd_enrich *enrich, const struct trd_record *record,
                             uint32_t reason);
void enrich_threads_stopped(struct trd_enrich *enrich, const struct trd_record *record);
void enrich_end_suspension(struct trd_enrich *enrich, const struct trd_record *record,
                           bool aborted);
void enrich_begin_gc(struct trd_enrich *enrich, const struct trd_record *record, uint32_t number);
void enrich_end_gc(struct trd_enrich *enrich, const struct trd_record *record, uint32_t number);
void enrich_begin_jit(struct trd_enrich *enrich, const struct trd_record *record, uint64_t method);
void enrich_end_jit(struct trd_enrich *enrich, const struct trd_record *record, uint64_t method);
void enrich_begin_contention(struct trd_enrich *enrich, const struct trd_record *record,
                             uint64_t lock, int32_t owner, bool native);
void enrich_end_contention(struct trd_enrich *enrich, const struct trd_record *record, bool native);
void enrich_close_contention(struct trd_enrich *enrich, struct thread *thread, uint64_t ts_ns);
void enrich_lose_contention(struct trd_enrich *enrich, const struct trd_record *record,
                            struct thread *thread);
/* Up to where a span is known to have been open: the loss's first moment, unless the span began
 * only after it. */
static inline uint64_t enrich_lost_at(const struct trd_record *record, const struct open_span *open)
{
    return record->lost_from_ns >= open->ts_ns ? record->lost_from_ns : record->ts_ns;
}
void enrich_enter_method(struct trd_enrich *enrich, const struct trd_record *record,
                         uint64_t method);
void enrich_leave_method(struct trd_enrich *enrich, const struct trd_record *record,
                         uint64_t method, enum enrich_leave how);
/* Of a thread: at its end, and when it lost events. */
void enrich_close_calls(struct trd_enrich *enrich, struct thread *thread, uint64_t ts_ns);
void enrich_lose_calls(struct trd_enrich *enrich, const struct trd_record *record,
                       struct thread *thread);
/* Ends may be among what was lost. */
void enrich_loss(struct trd_enrich *enrich, const struct trd_record *record);
/* The open spans of a process, of a thread, end at ts_ns or where they came into doubt. */
void enrich_close_process(struct trd_enrich *enrich, int32_t pid, struct process *process,
                          uint64_t ts_ns);
void enrich_close_thread(struct trd_enrich *enrich, struct thread *thread, uint64_t ts_ns);

/* Code */

void enrich_add_code(struct trd_enrich *enrich, const struct trd_record *record);
void enrich_set_method_module(struct trd_enrich *enrich, int32_t pid, uint64_t method,
                              uint64_t module);
void enrich_unload_method(struct trd_enrich *enrich, const struct trd_record *record,
                          uint64_t method);
void enrich_unload_module(struct trd_enrich *enrich, const struct trd_record *record,
                          uint64_t module);
void enrich_destroy_code(struct trd_enrich *enrich, struct process *process);
const char *enrich_symbol(void *enrich, int32_t pid, uint64_t address, uint64_t ts_ns,
                          size_t *out_size, uint64_t *out_offset);
/* Puts down the code addresses in that field which nobody told of. */
void enrich_want_addresses(struct trd_enrich *enrich, const struct trd_record *record,
                           const struct trd_field *field);

/* Off CPU (enrich_offcpu.c) */

void enrich_finish_offcpu(struct trd_enrich *enrich);
/* prev left in `state`, which `names` explains; next runs. */
void enrich_switch(struct trd_enrich *enrich, const struct trd_record *record, int32_t prev,
                   const struct trd_names *names, uint64_t state, int32_t next);
void enrich_waking(struct trd_enrich *enrich, const struct trd_record *record, int32_t tid,
                   uint64_t common_flags);
/* A kernel event of its thread, whatever it tells. */
void enrich_seen(struct trd_enrich *enrich, const struct trd_record *record);
/* At the end, or when the switch that would end them may be lost. */
void enrich_close_absences(struct trd_enrich *enrich, uint64_t ts_ns);

/* Kernel events: tids that are reused or gone. */
void enrich_kernel_event(struct trd_enrich *enrich, const struct trd_record *record);

#endif

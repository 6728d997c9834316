/*
 * State of threads and processes as the records tell it. Names live in one map keyed by (process
 * and kind, id); threads by tid; a process holds what is open in it: suspension, collections.
 */
#include "tracerd/enrich.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "derived.h"
#include "event.h"
#include "idmap.h"
#include "json_writer.h"

/* A machine has at most 4 million thread ids; names are as many as methods were compiled. */
#define THREADS_MAX (1u << 20)
#define NAMES_MAX (1u << 20)
#define PROCESSES_MAX (1u << 16)
#define GC_NESTING_MAX 4
#define JIT_NESTING_MAX 8

struct text {
    size_t size;
    char bytes[];
};

struct open_span {
    uint64_t ts_ns;
    uint64_t id;
    int32_t tid;
};

struct thread {
    int32_t pid;
    struct text *name; /* owned; managed name */
    struct open_span jit[JIT_NESTING_MAX];
    uint32_t jit_depth;
};

struct process {
    bool suspended;
    struct open_span suspension;         /* id: reason */
    uint64_t stopped_ns;                 /* all threads stopped; 0 = not yet */
    uint32_t gc_in_pause;                /* number of the last collection in this suspension */
    struct open_span gc[GC_NESTING_MAX]; /* id: number */
    uint32_t gc_depth;
};

struct trd_enrich {
    struct idmap threads;   /* (tid, 0) */
    struct idmap processes; /* (pid, 0) */
    struct idmap names;     /* (pid and meaning, id) -> struct text */
    struct idmap clr_tids;  /* (pid, ThreadID) -> tid + 1 as a pointer value */
    struct derived derived;
    struct trd_json_names resolver;
};

static const char *resolve(void *context, int32_t pid, enum trd_meaning meaning, uint64_t id,
                           size_t *out_size)
{
    struct trd_enrich *enrich = context;
    struct text *text = idmap_get(&enrich->names, (uint64_t)pid << 8 | meaning, id);

    if (!text)
        return NULL;
    *out_size = text->size;
    return text->bytes;
}

int trd_enrich_create(struct trd_enrich **out)
{
    struct trd_enrich *enrich = calloc(1, sizeof(*enrich));

    if (!enrich)
        return -ENOMEM;
    idmap_init(&enrich->threads, THREADS_MAX);
    idmap_init(&enrich->processes, PROCESSES_MAX);
    idmap_init(&enrich->names, NAMES_MAX);
    idmap_init(&enrich->clr_tids, THREADS_MAX);
    derived_init(&enrich->derived);
    enrich->resolver = (struct trd_json_names){ resolve, enrich };
    *out = enrich;
    return 0;
}

static void destroy_thread(void *value)
{
    struct thread *thread = value;

    free(thread->name);
    free(thread);
}

void trd_enrich_destroy(struct trd_enrich *enrich)
{
    if (!enrich)
        return;
    idmap_finish(&enrich->threads, destroy_thread);
    idmap_finish(&enrich->processes, free);
    idmap_finish(&enrich->names, free);
    idmap_finish(&enrich->clr_tids, NULL);
    derived_finish(&enrich->derived);
    free(enrich);
}

const struct trd_json_names *trd_enrich_names(struct trd_enrich *enrich)
{
    return &enrich->resolver;
}

static struct text *make_text(const char *bytes, size_t size)
{
    struct text *text = malloc(sizeof(*text) + size + 1);

    if (text) {
        text->size = size;
        memcpy(text->bytes, bytes, size);
        text->bytes[size] = '\0';
    }
    return text;
}

static struct thread *get_thread(struct trd_enrich *enrich, int32_t tid)
{
    struct thread *thread = idmap_get(&enrich->threads, (uint32_t)tid, 0);
    void *old;

    if (thread || tid <= 0)
        return thread;
    thread = calloc(1, sizeof(*thread));
    if (!thread)
        return NULL;
    thread->pid = -1;
    if (idmap_set(&enrich->threads, (uint32_t)tid, 0, thread, &old) != 0) {
        free(thread);
        return NULL;
    }
    return thread;
}

static struct process *get_process(struct trd_enrich *enrich, int32_t pid)
{
    struct process *process = idmap_get(&enrich->processes, (uint32_t)pid, 0);
    void *old;

    if (process || pid <= 0)
        return process;
    process = calloc(1, sizeof(*process));
    if (process && idmap_set(&enrich->processes, (uint32_t)pid, 0, process, &old) != 0) {
        free(process);
        return NULL;
    }
    return process;
}

int trd_enrich_set_thread(struct trd_enrich *enrich, int32_t tid, int32_t pid)
{
    struct thread *thread = get_thread(enrich, tid);

    if (!thread)
        return -ENOMEM;
    thread->pid = pid;
    return 0;
}

/* Spans */

static void put_reason(struct derived *derived, uint64_t reason)
{
    const struct trd_event_info *info = trd_event_find(TRD_EV_suspend_begin);
    const struct trd_event_field *field = &info->fields[0];

    derived_put_u64(derived, "raw", reason);
    for (size_t i = 0; i < field->name_count; i++)
        if (field->names[i].value == reason)
            derived_put_text(derived, "name", field->names[i].name, strlen(field->names[i].name));
}

#define SUSPEND_FOR_GC 1
#define SUSPEND_FOR_GC_PREP 7

static void close_suspension(struct trd_enrich *enrich, int32_t pid, struct process *process,
                             uint64_t ts_ns, uint16_t flags)
{
    const struct open_span *open = &process->suspension;
    struct derived *derived = &enrich->derived;
    bool for_gc = open->id == SUSPEND_FOR_GC || open->id == SUSPEND_FOR_GC_PREP;

    if (!process->suspended)
        return;
    process->suspended = false;
    if (for_gc && process->gc_in_pause) {
        derived_begin(derived, TRD_KIND_SPAN, "clr:gc_pause", open->ts_ns, pid, open->tid);
        derived_put_u64(derived, "number", process->gc_in_pause);
        derived_end(derived, ts_ns, flags);
    }
    derived_begin(derived, TRD_KIND_SPAN, "clr:suspension", open->ts_ns, pid, open->tid);
    derived_open(derived, "reason");
    put_reason(derived, open->id);
    derived_close(derived);
    if (process->stopped_ns >= open->ts_ns)
        derived_put_u64(derived, "stop_ns", process->stopped_ns - open->ts_ns);
    derived_end(derived, ts_ns, flags);
}

static void close_gc(struct trd_enrich *enrich, int32_t pid, const struct open_span *open,
                     uint64_t ts_ns, uint16_t flags)
{
    derived_begin(&enrich->derived, TRD_KIND_SPAN, "clr:gc", open->ts_ns, pid, open->tid);
    derived_put_u64(&enrich->derived, "number", open->id);
    derived_end(&enrich->derived, ts_ns, flags);
}

static void close_jit(struct trd_enrich *enrich, int32_t pid, const struct open_span *open,
                      uint64_t ts_ns, uint16_t flags)
{
    const char *name;
    size_t size;

    derived_begin(&enrich->derived, TRD_KIND_SPAN, "clr:jit", open->ts_ns, pid, open->tid);
    derived_open(&enrich->derived, "method");
    derived_put_hex(&enrich->derived, "id", open->id);
    name = resolve(enrich, pid, TRD_MEANING_METHOD, open->id, &size);
    if (name)
        derived_put_text(&enrich->derived, "name", name, size);
    derived_close(&enrich->derived);
    derived_end(&enrich->derived, ts_ns, flags);
}

static void begin_suspension(struct trd_enrich *enrich, const struct trd_record *record,
                             uint64_t reason)
{
    struct process *process = get_process(enrich, record->pid);

    if (!process)
        return;
    /* Its end was lost without a mark that reached us. */
    close_suspension(enrich, record->pid, process, record->ts_ns, TRD_RECORD_F_INCOMPLETE);
    process->suspended = true;
    process->suspension = (struct open_span){ record->ts_ns, reason, record->tid };
    process->stopped_ns = 0;
    process->gc_in_pause = 0;
}

static void begin_gc(struct trd_enrich *enrich, const struct trd_record *record, uint32_t number)
{
    struct process *process = get_process(enrich, record->pid);

    if (!process)
        return;
    if (process->suspended)
        process->gc_in_pause = number;
    if (process->gc_depth < GC_NESTING_MAX)
        process->gc[process->gc_depth++] = (struct open_span){ record->ts_ns, number, record->tid };
}

static void end_gc(struct trd_enrich *enrich, const struct trd_record *record, uint32_t number)
{
    struct process *process = get_process(enrich, record->pid);

    /* A foreground collection ends inside a background one: the number says which. */
    for (uint32_t i = process ? process->gc_depth : 0; i-- > 0;)
        if (process->gc[i].id == number) {
            close_gc(enrich, record->pid, &process->gc[i], record->ts_ns, 0);
            memmove(&process->gc[i], &process->gc[i + 1],
                    (process->gc_depth - i - 1) * sizeof(process->gc[0]));
            process->gc_depth--;
            return;
        }
}

static void begin_jit(struct trd_enrich *enrich, const struct trd_record *record, uint64_t method)
{
    struct thread *thread = get_thread(enrich, record->tid);

    if (thread && thread->jit_depth < JIT_NESTING_MAX)
        thread->jit[thread->jit_depth++] = (struct open_span){ record->ts_ns, method, record->tid };
}

static void end_jit(struct trd_enrich *enrich, const struct trd_record *record, uint64_t method)
{
    struct thread *thread = get_thread(enrich, record->tid);

    for (uint32_t i = thread ? thread->jit_depth : 0; i-- > 0;)
        if (thread->jit[i].id == method) {
            /* Whatever began after it and is still open has lost its end. */
            while (thread->jit_depth > i + 1)
                close_jit(enrich, record->pid, &thread->jit[--thread->jit_depth], record->ts_ns,
                          TRD_RECORD_F_INCOMPLETE);
            close_jit(enrich, record->pid, &thread->jit[--thread->jit_depth], record->ts_ns, 0);
            return;
        }
}

/* Ends may be among what was lost: what this thread has open cannot be trusted to last (C20). */
static void close_for_loss(struct trd_enrich *enrich, const struct trd_record *record)
{
    struct process *process = idmap_get(&enrich->processes, (uint32_t)record->pid, 0);
    struct thread *thread = idmap_get(&enrich->threads, (uint32_t)record->tid, 0);

    while (thread && thread->jit_depth > 0)
        close_jit(enrich, record->pid, &thread->jit[--thread->jit_depth], record->ts_ns,
                  TRD_RECORD_F_INCOMPLETE);
    if (!process)
        return;
    if (process->suspension.tid == record->tid)
        close_suspension(enrich, record->pid, process, record->ts_ns, TRD_RECORD_F_INCOMPLETE);
    for (uint32_t i = process->gc_depth; i-- > 0;)
        if (process->gc[i].tid == record->tid) {
            close_gc(enrich, record->pid, &process->gc[i], record->ts_ns, TRD_RECORD_F_INCOMPLETE);
            memmove(&process->gc[i], &process->gc[i + 1],
                    (process->gc_depth - i - 1) * sizeof(process->gc[0]));
            process->gc_depth--;
        }
}

static void close_process(struct trd_enrich *enrich, int32_t pid, struct process *process,
                          uint64_t ts_ns)
{
    close_suspension(enrich, pid, process, ts_ns, TRD_RECORD_F_INCOMPLETE);
    while (process->gc_depth > 0)
        close_gc(enrich, pid, &process->gc[--process->gc_depth], ts_ns, TRD_RECORD_F_INCOMPLETE);
}

void trd_enrich_end_process(struct trd_enrich *enrich, int32_t pid, uint64_t ts_ns)
{
    struct process *process = idmap_take(&enrich->processes, (uint32_t)pid, 0);

    if (process)
        close_process(enrich, pid, process, ts_ns);
    free(process);
}

void trd_enrich_finish(struct trd_enrich *enrich, uint64_t ts_ns)
{
    for (size_t i = 0; i < enrich->processes.capacity; i++)
        if (enrich->processes.entries[i].value)
            close_process(enrich, (int32_t)enrich->processes.entries[i].a,
                          enrich->processes.entries[i].value, ts_ns);
}

/* Names */

static void set_name(struct trd_enrich *enrich, const struct trd_record *record,
                     enum trd_meaning meaning, uint64_t id, const char *bytes, size_t size)
{
    struct text *text = make_text(bytes, size);
    void *old = NULL;

    if (!text)
        return;
    if (idmap_set(&enrich->names, (uint64_t)record->pid << 8 | meaning, id, text, &old) != 0)
        free(text);
    free(old);
}

/* A managed thread's name reaches the kernel's events through the OS thread it runs on. */
static void name_os_thread(struct trd_enrich *enrich, int32_t pid, uint64_t clr_thread)
{
    uintptr_t tid = (uintptr_t)idmap_get(&enrich->clr_tids, (uint32_t)pid, clr_thread);
    struct thread *thread = tid ? get_thread(enrich, (int32_t)(tid - 1)) : NULL;
    size_t size;
    const char *name = resolve(enrich, pid, TRD_MEANING_THREAD, clr_thread, &size);

    if (!thread || !name)
        return;
    free(thread->name);
    thread->name = make_text(name, size);
}

static void assign_thread(struct trd_enrich *enrich, const struct trd_record *record,
                          uint64_t clr_thread, int32_t tid)
{
    struct thread *thread = get_thread(enrich, tid);
    void *old;

    if (!thread)
        return;
    thread->pid = record->pid;
    (void)idmap_set(&enrich->clr_tids, (uint32_t)record->pid, clr_thread,
                    (void *)((uintptr_t)tid + 1), &old);
    name_os_thread(enrich, record->pid, clr_thread);
}

/* The id may come again for another thread, the OS thread may stay. */
static void forget_thread(struct trd_enrich *enrich, const struct trd_record *record,
                          uint64_t clr_thread)
{
    uintptr_t tid = (uintptr_t)idmap_take(&enrich->clr_tids, (uint32_t)record->pid, clr_thread);
    struct thread *thread = tid ? get_thread(enrich, (int32_t)(tid - 1)) : NULL;

    free(idmap_take(&enrich->names, (uint64_t)record->pid << 8 | TRD_MEANING_THREAD, clr_thread));
    if (thread) {
        free(thread->name);
        thread->name = NULL;
    }
}

static void define(struct trd_enrich *enrich, const struct trd_record *record, const char *kind,
                   enum trd_meaning meaning, uint64_t id, const struct trd_text *text,
                   const void *fixed)
{
    size_t size;
    const char *name = trd_event_text(fixed, *text, &size);

    set_name(enrich, record, meaning, id, name, size);
    derived_begin(&enrich->derived, TRD_KIND_DEFINITION, kind, record->ts_ns, record->pid, -1);
    derived_put_hex(&enrich->derived, "id", id);
    derived_put_text(&enrich->derived, "name", name, size);
    derived_end(&enrich->derived, record->ts_ns, 0);
}

/* CLR records were checked against events.def by whoever made them. */
static void note_clr(struct trd_enrich *enrich, const struct trd_record *record)
{
    const void *data = record->data;
    struct process *process;

    switch (record->schema->id) {
    case TRD_EV_thread_assigned: {
        const struct trd_ev_thread_assigned *event = data;

        assign_thread(enrich, record, event->thread, (int32_t)event->os_tid);
        break;
    }
    case TRD_EV_thread_name: {
        const struct trd_ev_thread_name *event = data;

        define(enrich, record, "thread", TRD_MEANING_THREAD, event->thread, &event->name, event);
        name_os_thread(enrich, record->pid, event->thread);
        break;
    }
    case TRD_EV_module_load: {
        const struct trd_ev_module_load *event = data;

        define(enrich, record, "module", TRD_MEANING_MODULE, event->module, &event->path, event);
        break;
    }
    case TRD_EV_assembly_load: {
        const struct trd_ev_assembly_load *event = data;

        define(enrich, record, "assembly", TRD_MEANING_ASSEMBLY, event->assembly, &event->name,
               event);
        break;
    }
    case TRD_EV_method: {
        const struct trd_ev_method *event = data;

        define(enrich, record, "method", TRD_MEANING_METHOD, event->method, &event->name, event);
        break;
    }
    case TRD_EV_thread_destroyed:
        forget_thread(enrich, record, ((const struct trd_ev_thread_destroyed *)data)->thread);
        break;
    case TRD_EV_jit_start:
        begin_jit(enrich, record, ((const struct trd_ev_jit_start *)data)->method);
        break;
    case TRD_EV_jit_end:
        end_jit(enrich, record, ((const struct trd_ev_jit_end *)data)->method);
        break;
    case TRD_EV_gc_start:
        begin_gc(enrich, record, ((const struct trd_ev_gc_start *)data)->number);
        break;
    case TRD_EV_gc_end:
        end_gc(enrich, record, ((const struct trd_ev_gc_end *)data)->number);
        break;
    case TRD_EV_suspend_begin:
        begin_suspension(enrich, record, ((const struct trd_ev_suspend_begin *)data)->reason);
        break;
    case TRD_EV_suspend_end:
        process = get_process(enrich, record->pid);
        if (process)
            process->stopped_ns = record->ts_ns;
        break;
    case TRD_EV_suspend_aborted:
    case TRD_EV_resume_end:
        process = get_process(enrich, record->pid);
        if (process)
            close_suspension(enrich, record->pid, process, record->ts_ns, 0);
        break;
    default:
        break;
    }
}

int trd_enrich_record(struct trd_enrich *enrich, struct trd_record *record)
{
    bool clr_event = record->kind == TRD_KIND_EVENT && record->source == TRD_SOURCE_CLR &&
                     record->schema && record->schema->is_clr && record->data;
    struct thread *thread;

    derived_clear(&enrich->derived);
    if (clr_event)
        note_clr(enrich, record);
    else if (record->kind == TRD_KIND_LOST && record->source == TRD_SOURCE_CLR)
        close_for_loss(enrich, record);
    thread = record->tid > 0 ? idmap_get(&enrich->threads, (uint32_t)record->tid, 0) : NULL;
    if (thread) {
        if (record->pid < 0)
            record->pid = thread->pid;
        if (thread->name && !record->thread_size) {
            record->thread = thread->name->bytes;
            record->thread_size = (uint32_t)thread->name->size;
        }
    }
    return 0;
}

int trd_enrich_derived(struct trd_enrich *enrich, struct trd_record *out)
{
    return derived_next(&enrich->derived, out);
}

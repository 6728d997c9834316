/*
 * State of threads and processes as the records tell it: which record means what. Every record
 * passes here, so a kernel event costs two look-ups by number and nothing else.
 */
#include "tracerd/enrich.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enrich_state.h"
#include "event.h"

int trd_enrich_create(struct trd_enrich **out)
{
    struct trd_enrich *enrich = calloc(1, sizeof(*enrich));

    if (!enrich)
        return -ENOMEM;
    idmap_init(&enrich->threads, ENRICH_THREADS_MAX);
    idmap_init(&enrich->processes, ENRICH_PROCESSES_MAX);
    idmap_init(&enrich->names, ENRICH_NAMES_MAX);
    idmap_init(&enrich->clr_tids, ENRICH_THREADS_MAX);
    idmap_init(&enrich->roles, ENRICH_SCHEMAS_MAX);
    idmap_init(&enrich->absences, ENRICH_THREADS_MAX);
    event_sources_init(&enrich->event_sources);
    derived_init(&enrich->derived);
    enrich->resolver = (struct trd_json_names){ .resolve = enrich_resolve,
                                                .symbol = enrich_symbol,
                                                .context = enrich };
    enrich->purge_ns = UINT64_MAX;
    *out = enrich;
    return 0;
}

static void destroy_thread(void *value)
{
    struct thread *thread = value;

    free(thread->name);
    free(thread->calls);
    free(thread);
}

void trd_enrich_destroy(struct trd_enrich *enrich)
{
    if (!enrich)
        return;
    for (size_t i = 0; i < enrich->processes.capacity; i++)
        if (enrich->processes.entries[i].value)
            enrich_destroy_code(enrich, enrich->processes.entries[i].value);
    idmap_finish(&enrich->threads, destroy_thread);
    idmap_finish(&enrich->processes, free);
    idmap_finish(&enrich->names, free);
    idmap_finish(&enrich->clr_tids, NULL);
    idmap_finish(&enrich->roles, free);
    enrich_finish_offcpu(enrich);
    event_sources_finish(&enrich->event_sources);
    derived_finish(&enrich->derived);
    free(enrich);
}

const struct trd_json_names *trd_enrich_names(struct trd_enrich *enrich)
{
    return &enrich->resolver;
}

struct thread *enrich_get_thread(struct trd_enrich *enrich, int32_t tid)
{
    struct thread *thread = enrich_find_thread(enrich, tid);
    void *old;

    if (thread || tid <= 0)
        return thread;
    thread = calloc(1, sizeof(*thread));
    if (!thread)
        return NULL;
    thread->tid = tid;
    thread->pid = -1;
    if (idmap_set(&enrich->threads, (uint32_t)tid, 0, thread, &old) != 0) {
        free(thread);
        return NULL;
    }
    return thread;
}

void enrich_drop_thread(struct trd_enrich *enrich, int32_t tid)
{
    struct thread *thread = idmap_take(&enrich->threads, (uint32_t)tid, 0);

    if (thread)
        destroy_thread(thread);
}

struct process *enrich_get_process(struct trd_enrich *enrich, int32_t pid)
{
    struct process *process = enrich_find_process(enrich, pid);
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
    struct thread *thread = enrich_find_thread(enrich, tid);

    /* The id went to another process: nothing of its last owner holds. */
    if (thread && (thread->exited || (thread->pid > 0 && thread->pid != pid)))
        enrich_drop_thread(enrich, tid);
    thread = enrich_get_thread(enrich, tid);
    if (!thread)
        return -ENOMEM;
    thread->pid = pid;
    return 0;
}

void trd_enrich_each_thread(const struct trd_enrich *enrich,
                            void (*each)(void *context, int32_t tid, int32_t pid), void *context)
{
    for (size_t i = 0; i < enrich->threads.capacity; i++) {
        const struct thread *thread = enrich->threads.entries[i].value;

        if (thread && thread->pid > 0)
            each(context, thread->tid, thread->pid);
    }
}

void trd_enrich_end_process(struct trd_enrich *enrich, int32_t pid, uint64_t ts_ns)
{
    struct process *process = enrich_get_process(enrich, pid);

    if (!process)
        return;
    derived_reuse(&enrich->derived);
    enrich_close_process(enrich, pid, process, ts_ns);
    for (size_t i = 0; i < enrich->threads.capacity; i++) {
        struct thread *thread = enrich->threads.entries[i].value;

        if (thread && thread->pid == pid)
            enrich_close_thread(enrich, thread, ts_ns);
    }
    process->ended = true;
    process->ended_ns = ts_ns;
    if (ts_ns + AFTERLIFE_NS < enrich->purge_ns)
        enrich->purge_ns = ts_ns + AFTERLIFE_NS;
}

void trd_enrich_finish(struct trd_enrich *enrich, uint64_t ts_ns)
{
    derived_reuse(&enrich->derived);
    for (size_t i = 0; i < enrich->processes.capacity; i++)
        if (enrich->processes.entries[i].value)
            enrich_close_process(enrich, (int32_t)enrich->processes.entries[i].a,
                                 enrich->processes.entries[i].value, ts_ns);
    for (size_t i = 0; i < enrich->threads.capacity; i++)
        if (enrich->threads.entries[i].value)
            enrich_close_thread(enrich, enrich->threads.entries[i].value, ts_ns);
    enrich_close_absences(enrich, ts_ns);
}

/* One ended process a call; the next one is due at once or later. */
static __attribute__((cold, noinline)) void purge(struct trd_enrich *enrich, uint64_t ts_ns)
{
    int32_t due = -1;

    enrich->purge_ns = UINT64_MAX;
    for (size_t i = 0; i < enrich->processes.capacity; i++) {
        const struct idmap_entry *entry = &enrich->processes.entries[i];
        const struct process *process = entry->value;

        if (!process || !process->ended)
            continue;
        if (due < 0 && process->ended_ns + AFTERLIFE_NS <= ts_ns)
            due = (int32_t)entry->a;
        else if (process->ended_ns + AFTERLIFE_NS < enrich->purge_ns)
            enrich->purge_ns = process->ended_ns + AFTERLIFE_NS;
    }
    if (due < 0)
        return;
    enrich_destroy_code(enrich, enrich_find_process(enrich, due));
    free(idmap_take(&enrich->processes, (uint32_t)due, 0));
    enrich_forget_process(enrich, due);
}

static void apply_forget(struct trd_enrich *enrich)
{
    enrich->forget = false;
    if (enrich->forget_meaning == TRD_MEANING_THREAD)
        enrich_forget_thread(enrich, enrich->forget_pid, enrich->forget_id);
    else
        enrich_forget_name(enrich, enrich->forget_pid, enrich->forget_meaning, enrich->forget_id);
}

static void forget_later(struct trd_enrich *enrich, const struct trd_record *record,
                         enum trd_meaning meaning, uint64_t id)
{
    enrich->forget = true;
    enrich->forget_pid = record->pid;
    enrich->forget_meaning = meaning;
    enrich->forget_id = id;
}

/* Takes the name over and, if it is news, tells of it with a definition. */
static void define(struct trd_enrich *enrich, const struct trd_record *record, const char *kind,
                   enum trd_meaning meaning, uint64_t id, struct trd_text text)
{
    bool inside = (size_t)text.offset + text.size <= record->size;
    size_t size = 0;
    const char *name = inside ? trd_event_text(record->data, text, &size) : "";
    bool news = enrich_set_name(enrich, record->pid, meaning, id, name, size);
    int32_t tid = -1;

    if (meaning == TRD_MEANING_THREAD)
        tid = enrich_name_thread(enrich, record->pid, id);
    if (!news || size == 0)
        return;
    derived_begin(&enrich->derived, TRD_KIND_DEFINITION, kind, record->ts_ns, record->pid, tid);
    derived_put_hex(&enrich->derived, "id", id);
    derived_put_text(&enrich->derived, "name", name, size);
    derived_end(&enrich->derived, record->ts_ns,
                record->flags & (TRD_RECORD_F_CATCH_UP | TRD_RECORD_F_CUT));
}

/* The fixed fields of a record whose event is known; a copy, since nothing promises alignment. */
#define FIXED(record, ident)                                                                       \
    ({                                                                                             \
        struct trd_ev_##ident fixed_;                                                              \
                                                                                                   \
        memcpy(&fixed_, (record)->data, sizeof(fixed_));                                           \
        fixed_;                                                                                    \
    })

/* Names and threads. */
static void note_identity(struct trd_enrich *enrich, const struct trd_record *record)
{
    switch (record->schema->id) {
    case TRD_EV_thread_assigned:
        enrich_assign_thread(enrich, record->pid, FIXED(record, thread_assigned).thread,
                             (int32_t)FIXED(record, thread_assigned).os_tid);
        break;
    case TRD_EV_thread_name:
        define(enrich, record, "thread", TRD_MEANING_THREAD, FIXED(record, thread_name).thread,
               FIXED(record, thread_name).name);
        break;
    case TRD_EV_thread_destroyed:
        forget_later(enrich, record, TRD_MEANING_THREAD, FIXED(record, thread_destroyed).thread);
        break;
    case TRD_EV_module_load:
        define(enrich, record, "module", TRD_MEANING_MODULE, FIXED(record, module_load).module,
               FIXED(record, module_load).path);
        break;
    case TRD_EV_module_unload:
        forget_later(enrich, record, TRD_MEANING_MODULE, FIXED(record, module_unload).module);
        enrich_unload_module(enrich, record, FIXED(record, module_unload).module);
        break;
    case TRD_EV_assembly_load:
        define(enrich, record, "assembly", TRD_MEANING_ASSEMBLY,
               FIXED(record, assembly_load).assembly, FIXED(record, assembly_load).name);
        break;
    case TRD_EV_assembly_unload:
        forget_later(enrich, record, TRD_MEANING_ASSEMBLY, FIXED(record, assembly_unload).assembly);
        break;
    case TRD_EV_method:
        define(enrich, record, "method", TRD_MEANING_METHOD, FIXED(record, method).method,
               FIXED(record, method).name);
        enrich_set_method_module(enrich, record->pid, FIXED(record, method).method,
                                 FIXED(record, method).module);
        break;
    case TRD_EV_code:
        enrich_add_code(enrich, record);
        break;
    case TRD_EV_method_unload:
        enrich_unload_method(enrich, record, FIXED(record, method_unload).method);
        break;
    case TRD_EV_type:
        define(enrich, record, "type", TRD_MEANING_TYPE, FIXED(record, type).type,
               FIXED(record, type).name);
        break;
    case TRD_EV_class_unload:
        forget_later(enrich, record, TRD_MEANING_TYPE, FIXED(record, class_unload).type);
        break;
    default:
        break;
    }
}

/* What begins and what ends. */
static void note_activity(struct trd_enrich *enrich, const struct trd_record *record)
{
    switch (record->schema->id) {
    case TRD_EV_jit_start:
        enrich_begin_jit(enrich, record, FIXED(record, jit_start).method);
        break;
    case TRD_EV_jit_end:
        enrich_end_jit(enrich, record, FIXED(record, jit_end).method);
        break;
    case TRD_EV_method_enter:
        enrich_enter_method(enrich, record, FIXED(record, method_enter).method);
        break;
    case TRD_EV_method_leave:
        enrich_leave_method(enrich, record, FIXED(record, method_leave).method,
                            FIXED(record, method_leave).unwound ? ENRICH_UNWOUND : ENRICH_RETURNED);
        break;
    case TRD_EV_method_tailcall:
        enrich_leave_method(enrich, record, FIXED(record, method_tailcall).method, ENRICH_TAILCALL);
        break;
    case TRD_EV_gc_start:
        enrich_begin_gc(enrich, record, FIXED(record, gc_start).number);
        break;
    case TRD_EV_gc_end:
        enrich_end_gc(enrich, record, FIXED(record, gc_end).number);
        break;
    case TRD_EV_contention_start:
        enrich_begin_contention(enrich, record, FIXED(record, contention_start).lock,
                                (int32_t)FIXED(record, contention_start).owner,
                                FIXED(record, contention_start).native);
        break;
    case TRD_EV_contention_stop:
        enrich_end_contention(enrich, record, FIXED(record, contention_stop).native);
        break;
    case TRD_EV_suspend_begin:
        enrich_begin_suspension(enrich, record, FIXED(record, suspend_begin).reason);
        break;
    case TRD_EV_suspend_end:
        enrich_threads_stopped(enrich, record);
        break;
    case TRD_EV_suspend_aborted:
    case TRD_EV_resume_end:
        enrich_end_suspension(enrich, record, record->schema->id == TRD_EV_suspend_aborted);
        break;
    default:
        break;
    }
}

/* Last of all: the record is then another one. */
static void note_source(struct trd_enrich *enrich, struct trd_record *record)
{
    switch (record->schema->id) {
    case TRD_EV_event_schema:
        event_sources_describe(&enrich->event_sources, record);
        break;
    case TRD_EV_event_field:
        event_sources_add_field(&enrich->event_sources, record);
        break;
    case TRD_EV_event:
        event_sources_read(&enrich->event_sources, record);
        break;
    default:
        break;
    }
}

static void note(struct trd_enrich *enrich, struct trd_record *record)
{
    struct process *process;

    if (record->kind == TRD_KIND_LOST && record->source == TRD_SOURCE_CLR) {
        enrich_loss(enrich, record);
        return;
    }
    if (record->kind == TRD_KIND_LOST && record->source == TRD_SOURCE_FTRACE && enrich->offcpu)
        enrich_close_absences(enrich, record->lost_from_ns);
    if (record->kind != TRD_KIND_EVENT || !record->schema || !record->data)
        return;
    if (!record->schema->is_clr) {
        if (enrich->offcpu)
            enrich_seen(enrich, record);
        if (enrich->threads.count > 0 || enrich->offcpu)
            enrich_kernel_event(enrich, record);
        return;
    }
    if (record->size < record->schema->fixed_size)
        return;
    /* A process that was given up may come back with a new connection. */
    process = enrich->purge_ns != UINT64_MAX ? enrich_find_process(enrich, record->pid) : NULL;
    if (process)
        process->ended = false;
    note_identity(enrich, record);
    note_activity(enrich, record);
    note_source(enrich, record);
}

static inline void complete(const struct trd_enrich *enrich, struct trd_record *record)
{
    const struct thread *thread = enrich_find_thread(enrich, record->tid);

    if (!thread || (record->pid >= 0 && record->pid != thread->pid))
        return;
    record->pid = thread->pid;
    if (thread->name && !record->thread_size) {
        record->thread = thread->name->bytes;
        record->thread_size = (uint32_t)thread->name->size;
    }
}

/* A kernel event while no thread is known, nothing is due and nothing waits to be fetched. */
static inline bool says_nothing(const struct trd_enrich *enrich, const struct trd_record *record)
{
    return record->source == TRD_SOURCE_FTRACE && enrich->threads.count == 0 && !enrich->offcpu &&
           !enrich->forget && record->ts_ns < enrich->purge_ns && enrich->derived.count == 0;
}

int trd_enrich_record(struct trd_enrich *enrich, struct trd_record *record)
{
    if (says_nothing(enrich, record))
        return 0;
    derived_reuse(&enrich->derived);
    if (__builtin_expect(enrich->forget, 0))
        apply_forget(enrich);
    if (__builtin_expect(record->ts_ns >= enrich->purge_ns, 0))
        purge(enrich, record->ts_ns);
    note(enrich, record);
    complete(enrich, record);
    return enrich->derived.next < enrich->derived.count;
}

int trd_enrich_derived(struct trd_enrich *enrich, struct trd_record *out)
{
    int result = derived_next(&enrich->derived, out);

    if (result == 1)
        complete(enrich, out);
    return result;
}

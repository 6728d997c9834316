/*
 * What kernel events say about thread ids: who came into being in which process, whose id is free
 * again. A thread id that comes back must not bring the name of its last owner with it.
 */
#include "enrich_state.h"

#include <stdlib.h>
#include <string.h>

#include "field.h"

#define CLONE_THREAD 0x10000u /* include/uapi/linux/sched.h */

/* What an event means here, found by name when its schema is seen first. */
struct role {
    enum {
        ROLE_NONE,
        ROLE_FORK,
        ROLE_EXIT,
        ROLE_CODE,
        ROLE_SWITCH,
        ROLE_WAKING,
    } kind;
    const struct trd_field *tid;         /* SWITCH: the one that leaves */
    const struct trd_field *next;        /* SWITCH */
    const struct trd_field *state;       /* SWITCH: of the one that leaves; WAKING: common_flags */
    const struct trd_field *code;        /* addresses of code that the thread runs */
    const struct trd_field *clone_flags; /* only task:task_newtask tells threads from processes */
};

/* Stacks of user space, and where user space was when it was interrupted. */
static void find_code(struct role *role, const struct trd_schema *schema)
{
    if (strcmp(schema->full_name, "ftrace:user_stack") == 0)
        role->code = trd_schema_field(schema, "caller");
    else if (strcmp(schema->full_name, "exceptions:page_fault_user") == 0)
        role->code = trd_schema_field(schema, "ip");
    if (role->code)
        role->kind = ROLE_CODE;
}

static void find_schedule(struct role *role, const struct trd_schema *schema)
{
    if (strcmp(schema->full_name, "sched:sched_switch") == 0) {
        role->kind = ROLE_SWITCH;
        role->tid = trd_schema_field(schema, "prev_pid");
        role->next = trd_schema_field(schema, "next_pid");
        role->state = trd_schema_field(schema, "prev_state");
    } else if (strcmp(schema->full_name, "sched:sched_waking") == 0) {
        role->kind = ROLE_WAKING;
        role->tid = trd_schema_field(schema, "pid");
        role->state = trd_schema_field(schema, "common_flags");
    }
}

static void find_role(struct role *role, const struct trd_schema *schema)
{
    if (strcmp(schema->full_name, "sched:sched_process_fork") == 0) {
        role->kind = ROLE_FORK;
        role->tid = trd_schema_field(schema, "child_pid");
    } else if (strcmp(schema->full_name, "task:task_newtask") == 0) {
        role->kind = ROLE_FORK;
        role->tid = trd_schema_field(schema, "pid");
        role->clone_flags = trd_schema_field(schema, "clone_flags");
    } else if (strcmp(schema->full_name, "sched:sched_process_exit") == 0) {
        role->kind = ROLE_EXIT;
        role->tid = trd_schema_field(schema, "pid");
    }
    find_schedule(role, schema);
    if (!role->tid)
        role->kind = ROLE_NONE;
    find_code(role, schema);
}

bool trd_enrich_reads(const struct trd_enrich *enrich, const struct trd_schema *schema)
{
    struct role role = { 0 };

    find_role(&role, schema);
    if (role.kind == ROLE_SWITCH || role.kind == ROLE_WAKING)
        return enrich->offcpu;
    return role.kind != ROLE_NONE;
}

static const struct role *add_role(struct trd_enrich *enrich, const struct trd_schema *schema)
{
    struct role *role = calloc(1, sizeof(*role));
    void *old;

    if (!role)
        return NULL;
    find_role(role, schema);
    if (idmap_set(&enrich->roles, (uintptr_t)schema, 0, role, &old) != 0) {
        free(role);
        return NULL;
    }
    return role;
}

static bool get_int(const struct trd_record *record, const struct trd_field *field, uint64_t *out)
{
    struct field_bytes bytes;

    if (!field || field->storage != TRD_STORAGE_INT ||
        !field_find(record->schema, field, record->data, record->size, &bytes))
        return false;
    *out = load_int(bytes.at, field->size, field->is_signed, record->schema->big_endian);
    return true;
}

/* Whoever had the id before is gone. A new thread belongs to its parent's process. */
static void thread_begins(struct trd_enrich *enrich, const struct trd_record *record,
                          const struct role *role, int32_t tid)
{
    const struct thread *parent = enrich_find_thread(enrich, record->tid);
    int32_t pid = parent ? parent->pid : -1;
    const struct thread *known = enrich_find_thread(enrich, tid);
    uint64_t flags;

    if (known && known->exited)
        enrich_drop_thread(enrich, tid);
    if (pid > 0 && get_int(record, role->clone_flags, &flags) && (flags & CLONE_THREAD))
        (void)trd_enrich_set_thread(enrich, tid, pid);
}

/* It still shows up in a few events, the last switch among them: forgotten when others followed. */
static void thread_exits(struct trd_enrich *enrich, int32_t tid)
{
    struct thread *thread = enrich_find_thread(enrich, tid);
    int32_t *place = &enrich->exited[enrich->exited_next % EXITED_MAX];
    struct thread *oldest = enrich_find_thread(enrich, *place);

    if (!thread || thread->exited)
        return;
    if (oldest && oldest->exited)
        enrich_drop_thread(enrich, *place);
    thread->exited = true;
    *place = tid;
    enrich->exited_next++;
}

static void note_schedule(struct trd_enrich *enrich, const struct trd_record *record,
                          const struct role *role, int32_t tid)
{
    uint64_t state = 0, next;

    if (!enrich->offcpu)
        return;
    (void)get_int(record, role->state, &state);
    if (role->kind == ROLE_WAKING)
        enrich_waking(enrich, record, tid, state);
    else if (role->state && get_int(record, role->next, &next))
        enrich_switch(enrich, record, tid, role->state->names, state, (int32_t)next);
}

void enrich_kernel_event(struct trd_enrich *enrich, const struct trd_record *record)
{
    const struct role *role = idmap_get(&enrich->roles, (uintptr_t)record->schema, 0);
    uint64_t tid;

    if (__builtin_expect(!role, 0))
        role = add_role(enrich, record->schema);
    if (__builtin_expect(!role || role->kind == ROLE_NONE, 1))
        return;
    if (role->kind == ROLE_CODE) {
        if (enrich->code_maps > 0)
            enrich_want_addresses(enrich, record, role->code);
        return;
    }
    if (!get_int(record, role->tid, &tid) || tid > INT32_MAX)
        return;
    if (role->kind >= ROLE_SWITCH) {
        note_schedule(enrich, record, role, (int32_t)tid);
        return;
    }
    if (tid == 0)
        return;
    if (role->kind == ROLE_FORK)
        thread_begins(enrich, record, role, (int32_t)tid);
    else
        thread_exits(enrich, (int32_t)tid);
}

/*
 * Every callback against every fault at every method of the runtime that it leads to. Each fault
 * has a process of its own, in which the profiler is loaded as a runtime loads it, the fault is
 * set, and the whole vtable is walked. Then the rings are read as the daemon would: every record
 * decodes, no event is missing because something about it could not be told, what has no name is
 * called "?", nothing that a failing call left behind is in a text, and whatever was handed out was
 * released.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arena.h"
#include "attach.h"
#include "catch_up.h"
#include "fake_info.h"
#include "fake_stubs.h"
#include "profiler.h"
#include "resolve.h"
#include "resolve.h"
#include "walk.h"

#define IDS 256
#define POISON_TEXT "\xe5\xa9\x9a" /* U+5A5A */
#define OLD_BYTE 0x5a
#define BEHIND_END "XX" /* FAKE_NAME_NO_NUL */

static const HRESULT failures[] = {
    E_FAIL,          E_POINTER,       E_NOINTERFACE,   HR(0x80004001u), HR(0x8000ffffu),
    HR(0x80070057u), HR(0x8007000eu), HR(0x8007007au), HR(0x800700cbu), HR(0x80131130u),
    HR(0x80131350u), HR(0x80131351u), HR(0x80131354u), HR(0x80131355u), HR(0x80131356u),
    HR(0x8013135bu), HR(0x8013135cu), HR(0x8013135du), HR(0x8013135eu), HR(0x8013135fu),
    HR(0x80131360u), HR(0x80131361u), HR(0x80131362u), HR(0x80131363u), HR(0x80131364u),
    HR(0x80131365u), HR(0x80131366u), HR(0x80131367u), HR(0x80131368u), HR(0x80131369u),
    HR(0x8013136au), HR(0x8013136bu), HR(0x8013136cu), HR(0x8013136du), HR(0x8013136eu),
    HR(0x8013136fu), HR(0x80131370u), HR(0x80131371u), HR(0x80131372u), HR(0x80131373u),
    HR(0x80131374u), HR(0x80131375u), HR(0x80131376u), HR(0x80131378u), HR(0x80131379u),
    HR(0x8013137au), HR(0x8013137bu), HR(0x8013137cu), HR(0x8013137eu), HR(0x80131380u),
    HR(0x80131382u), HR(0x80131383u), HR(0x80131388u), HR(0x80131389u), HR(0x8013138au),
    HR(0x80131515u), HR(0x80131516u),
};
#define FAILURES (sizeof(failures) / sizeof(failures[0]))

/* What the process found, in memory shared with the test. */
static struct result {
    HRESULT initialized;
    unsigned refs_out;
    unsigned events[IDS]; /* told as they happened, not caught up */
    unsigned calls[FAKE_OBJECTS][FAKE_SLOTS];
    unsigned named[IDS]; /* of those, how many had their texts as the good answers give them */
} * result;
static struct result good; /* of one walk without a fault */

/* In the process */

static bool is_good_text(const char *text, size_t size)
{
    static const char *const texts[] = { FAKE_METHOD_NAME, FAKE_TYPE_NAME, "Assembly",
                                         "/app/app.dll", "\"text\"" };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (strlen(texts[i]) == size && memcmp(texts[i], text, size) == 0)
            return true;
    return false;
}

/* Who is named must have some name, whatever went wrong. */
static bool must_have_text(const char *event, const char *field)
{
    return (strcmp(event, "clr:method") == 0 && strcmp(field, "name") == 0) ||
           strcmp(field, "type") == 0;
}

static void check_text(const struct trd_event_info *info, const struct trd_event_field *field,
                       const uint8_t *fixed)
{
    struct trd_text word;
    const char *text;
    size_t size;

    memcpy(&word, fixed + field->offset, sizeof(word));
    text = trd_event_text(fixed, word, &size);
    TRACED_EXPECT(memmem(text, size, POISON_TEXT, strlen(POISON_TEXT)) == NULL);
    TRACED_EXPECT(memmem(text, size, BEHIND_END, strlen(BEHIND_END)) == NULL);
    if (size > 0 && strcmp(field->name, "arguments") == 0)
        TRACED_EXPECT(text[0] == '{' && text[size - 1] == '}');
    if (must_have_text(info->name, field->name))
        TRACED_EXPECT(size > 0);
    if (is_good_text(text, size))
        result->named[info->id]++;
}

/* Neither what a failing call left behind nor what the ring held before. */
static void check_number(const struct trd_event_info *info, const struct trd_event_field *field,
                         const uint8_t *fixed)
{
    uint8_t old[8];

    memset(old, OLD_BYTE, sizeof(old));
    if (memcmp(fixed + field->offset, old, field->size) != 0)
        return;
    fprintf(stderr, "%s: %s was not set\n", info->name, field->name);
    TRACED_EXPECT(false);
}

static void check_record(const struct trd_event_head *head, const uint8_t *fixed)
{
    const struct trd_event_info *info = trd_event_find(head->id);

    TRACED_EXPECT(info && head->id < IDS);
    for (size_t i = 0; i < info->field_count; i++)
        if (info->fields[i].type == TRD_EVENT_TYPE_text)
            check_text(info, &info->fields[i], fixed);
        else
            check_number(info, &info->fields[i], fixed);
    if (!(head->flags & TRD_EVENT_F_CATCH_UP))
        result->events[head->id]++;
}

/* As a reader would, and makes room: of old bytes that a writer must not leave in a record. */
static void read_ring(struct trd_ring *ring, uint32_t size)
{
    uint64_t position = ring->tail, end = ring->head;
    struct trd_event_head head;

    TRACED_EXPECT(ring->dropped == 0);
    while (position < end) {
        uint64_t left = end - position;
        uint8_t *at = (uint8_t *)(uintptr_t)trd_ring_run(ring, size, position, &left);
        int known = trd_event_check(at, left, &head);

        TRACED_EXPECT(known >= 0);
        if (known == 1)
            check_record(&head, at + sizeof(head));
        memset(at, OLD_BYTE, head.size);
        position += head.size;
    }
    ring->tail = end;
}

static void read_rings(void)
{
    struct trd_arena *arena = arena_get();

    for (uint32_t i = 0; i < arena->ring_used; i++)
        read_ring(trd_arena_ring(arena, arena->ring_size, i), arena->ring_size);
}

static bool with_arguments; /* of hooked methods: another set of hooks, and more questions */

static void set_environment(void)
{
    char list[256] = "";

    for (int i = 0; i < TRD_CATEGORY_COUNT; i++)
        if (TRD_CATEGORIES_ALL >> i & 1)
            strcat(strcat(list, *list ? "," : ""), trd_category_name((enum trd_category)i));
    setenv(TRD_ENV_CATEGORIES, list, 1);
    setenv(TRD_ENV_SOCKET, "/nonexistent/socket", 1);
    setenv(TRD_ENV_METHODS, "*", 1);
    setenv(TRD_ENV_ARGUMENTS, with_arguments ? "1" : "0", 1);
    /* Names without end fill a text each. */
    setenv(TRD_ENV_BUFFER, "64M", 1);
}

/* Those that look at arguments and results. */
static void call_hooks(UINT_PTR method, BOOL hook)
{
    if (!hook || !with_arguments || !fake.enter)
        return;
    TRACED_EXPECT(method != 0);
    fake.enter(method, 1);
    fake.leave(method, 1);
    fake.tailcall(method, 1);
}

/* What the runtime asks of a profiler that hooks methods; what the daemon asks, and is told at
 * first. Before any walk, since beside unloads nothing of it is asked. */
static void ask_and_catch_up(void)
{
    static FunctionID next = 0x8000000;
    uint64_t addresses[] = { FAKE_CODE, FAKE_CODE + 1, 8 };
    struct trd_resolve resolve = { .count = 3, .flags = TRD_RESOLVE_F_IL };
    BOOL hook = 0;

    if (fake.map) {
        UINT_PTR method = fake.map(next += 16, NULL, &hook);

        call_hooks(method, hook);
    }
    catch_up(profiler_get(), TRD_CATEGORIES_ALL & ~TRD_CATEGORY_BIT(METHOD));
    resolve_addresses(profiler_get(), &resolve, addresses);
}

/* All kinds of methods: of a plain type, of a generic one, and without metadata. */
static void walk_each_kind(struct traced_object *object)
{
    (void)walk_callbacks(object, WALK_PLAUSIBLE);
    read_rings();
    fake.function_class = FAKE_BOX_CLASS;
    fake.arguments = 1;
    (void)walk_callbacks(object, WALK_PLAUSIBLE);
    read_rings();
    fake.function_class = 0;
    fake.arguments = 0;
    fake.dynamic = true;
    (void)walk_callbacks(object, WALK_PLAUSIBLE);
    read_rings();
    fake.dynamic = false;
}

/* The whole life, with a walk for each of the HRESULTs. */
static void live(struct fake_fault fault, const HRESULT *results, size_t count)
{
    static const uint8_t main_class[] = TRD_CLSID_MAIN_BYTES;
    struct traced_object *object;
    bool notification_only;

    set_environment();
    (void)fake_reset();
    fake.objects = true;
    fake.items = 1; /* fewer than a slice, which a daemon would be sent */
    fake_fault = fault;
    fake_fault.hr = results[0];
    object = traced_load(main_class, &notification_only);
    TRACED_EXPECT(object != NULL);
    result->initialized = object->vtbl->Initialize(object, fake_info());
    if (!SUCCEEDED(result->initialized))
        return;
    for (size_t i = 0; i < count; i++) {
        fake_fault.hr = results[i];
        ask_and_catch_up();
        read_rings();
    }
    for (size_t i = 0; i < count; i++) {
        fake_fault.hr = results[i];
        walk_each_kind(object);
    }
    profiler_detach();
    if (fake_misled)
        fprintf(stderr, "%s was asked about nothing\n", fake_misled);
    TRACED_EXPECT(fake_misled == NULL);
    read_rings();
}

static void run(struct fake_fault fault, const HRESULT *results, size_t count)
{
    int status = -1;
    pid_t pid;

    memset(result, 0, sizeof(*result));
    fflush(NULL);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        live(fault, results, count);
        result->refs_out = fake.refs_out;
        for (int object = 0; object < FAKE_OBJECTS; object++)
            for (int slot = 0; slot < FAKE_SLOTS; slot++)
                result->calls[object][slot] = fake_calls[object][slot];
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (status != 0)
        fail_msg("%s, HRESULT 0x%08x, spoilt as %d: the process ended with 0x%x",
                 fake_method_name(fault.object, fault.slot), (unsigned)results[0], fault.spoil,
                 status);
}

/* The test */

/* Told only with what the runtime answers; and hooked methods, where it lets us hook. */
static bool is_an_answer(int id)
{
    const struct trd_event_info *info = trd_event_find((uint16_t)id);

    return id == TRD_EV_gc_heap || id == TRD_EV_code || id == TRD_EV_method_unload ||
           id == TRD_EV_il_offset || (info && info->category == TRD_CATEGORY_METHOD);
}

static void check_result(struct fake_fault fault, size_t walks)
{
    const char *method = fake_method_name(fault.object, fault.slot);

    assert_int_equal(result->refs_out, 0);
    if (!SUCCEEDED(result->initialized)) {
        /* Without the interface there is nobody to ask. */
        assert_true(fault.object == FAKE_INFO && fault.slot == 0);
        return;
    }
    for (int id = 0; id < IDS; id++) {
        unsigned per_life = id == TRD_EV_runtime_info || id == TRD_EV_shutdown;
        unsigned expected = per_life ? good.events[id] : good.events[id] * (unsigned)walks;

        /* Once for each listener, and again if it found no room or was forgotten. */
        if (id == TRD_EV_method) {
            assert_true(result->events[id] >= good.events[id]);
            continue;
        }
        /* Tells of the fault. */
        if (id == TRD_EV_unavailable)
            continue;
        if (is_an_answer(id) ? result->events[id] > expected : result->events[id] != expected)
            fail_msg("%s, spoilt as %d: %u events of id 0x%x, not %u", method, fault.spoil,
                     result->events[id], (unsigned)id, expected);
    }
}

/* Incomplete data is a failure that fills some outs of two methods, and means them. */
static size_t failures_of(enum fake_object object, int slot, HRESULT results[FAILURES])
{
    const char *method = fake_method_name(object, slot);
    bool may_be_incomplete =
        strcmp(method, "GetModuleInfo2") == 0 || strcmp(method, "GetAssemblyInfo") == 0;
    size_t count = 0;

    for (size_t i = 0; i < FAILURES; i++)
        if (!may_be_incomplete || failures[i] != CORPROF_E_DATAINCOMPLETE)
            results[count++] = failures[i];
    return count;
}

static void fault_each(enum fake_object object, int slot)
{
    static const HRESULT ok[] = { S_OK, S_FALSE };
    HRESULT results[FAILURES];
    size_t count = failures_of(object, slot, results);
    struct fake_fault fault = { .armed = true, .object = object, .slot = slot };

    for (int spoil = FAKE_OUTS_UNTOUCHED; spoil < FAKE_SPOILS; spoil++) {
        fault.spoil = (enum fake_spoil)spoil;
        if (spoil == FAKE_OUTS_POISON || !fake_can_spoil(object, slot, fault.spoil))
            continue;
        run(fault, ok, 2);
        check_result(fault, 2);
    }
    fault.spoil = FAKE_OUTS_POISON;
    run(fault, results, count);
    check_result(fault, count);
}

static void test_walk_without_a_fault_tells_everything(void **state)
{
    static const HRESULT ok = S_OK;

    (void)state;
    run((struct fake_fault){ 0 }, &ok, 1);
    good = *result;
    assert_int_equal(good.initialized, S_OK);
    assert_int_equal(good.refs_out, 0);
    assert_true(good.named[TRD_EV_method] > 0);
    assert_int_equal(good.named[TRD_EV_exception_thrown], good.events[TRD_EV_exception_thrown]);
    for (int id = TRD_EV_thread_created; id <= TRD_EV_gc_survived; id++)
        if (trd_event_find((uint16_t)id) && good.events[id] == 0 && !is_an_answer(id))
            print_message("not walked: %s\n", trd_event_find((uint16_t)id)->name);
}

/* Which methods there are is what the walk without a fault called. */
static void test_fault_of_each_method_leaves_the_events(void **state)
{
    unsigned methods = 0;

    (void)state;
    for (int object = 0; object < FAKE_OBJECTS; object++)
        for (int slot = 0; slot < FAKE_SLOTS; slot++) {
            if (good.calls[object][slot] == 0)
                continue;
            fault_each((enum fake_object)object, slot);
            print_message("%s\n", fake_method_name((enum fake_object)object, slot));
            methods++;
        }
    print_message("%u methods, %zu HRESULTs each\n", methods, FAILURES);
    assert_true(methods > 20);
}

/* The methods that only hooks with arguments call, and their plans. */
static void test_fault_of_each_method_that_tells_arguments_leaves_the_events(void **state)
{
    static const HRESULT ok = S_OK;
    struct result before = good;

    (void)state;
    with_arguments = true;
    run((struct fake_fault){ 0 }, &ok, 1);
    good = *result;
    assert_int_equal(good.refs_out, 0);
    assert_true(good.events[TRD_EV_method_enter] > 0);
    assert_true(good.named[TRD_EV_method_leave] > 0); /* what it returned */
    for (int object = 0; object < FAKE_OBJECTS; object++)
        for (int slot = 0; slot < FAKE_SLOTS; slot++)
            if (good.calls[object][slot] > before.calls[object][slot]) {
                fault_each((enum fake_object)object, slot);
                print_message("%s\n", fake_method_name((enum fake_object)object, slot));
            }
    assert_true(good.calls[FAKE_INFO][63] > 1 && good.calls[FAKE_INFO][64] > 0);
    good = before;
    with_arguments = false;
}

static void walk_nothing(void)
{
    static const uint8_t main_class[] = TRD_CLSID_MAIN_BYTES;
    struct traced_object *object;
    bool notification_only;

    set_environment();
    (void)fake_reset();
    object = traced_load(main_class, &notification_only);
    TRACED_EXPECT(object && object->vtbl->Initialize(object, fake_info()) == S_OK);
    TRACED_EXPECT(walk_callbacks(object, WALK_EMPTY) > 80);
    object->vtbl->Shutdown(object);
    read_rings();
}

static void test_callbacks_with_nothing_in_them_do_no_harm(void **state)
{
    int status = -1;
    pid_t pid;

    (void)state;
    fflush(NULL);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        walk_nothing();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walk_without_a_fault_tells_everything),
        cmocka_unit_test(test_fault_of_each_method_leaves_the_events),
        cmocka_unit_test(test_fault_of_each_method_that_tells_arguments_leaves_the_events),
        cmocka_unit_test(test_callbacks_with_nothing_in_them_do_no_harm),
    };

    result = mmap(NULL, sizeof(*result), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return result == MAP_FAILED ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}

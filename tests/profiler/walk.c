#include "walk.h"

#include <stdint.h>
#include <string.h>

#define PARAMETERS_MAX 14
#define BUFFER_SIZE 4096
#define COUNT 3       /* of elements in each buffer */
#define GENERATIONS 5 /* a walk's collection has them all */

/* The exception that everything throws, laid out as fake_info.c says. */
static const struct {
    void *type;
    uint32_t length;
    uint16_t units[sizeof(WALK_MESSAGE) - 1];
} message = { NULL,
              sizeof(WALK_MESSAGE) - 1,
              { 'w', 'h', 'a', 't', ' ', 'w', 'e', 'n', 't', ' ', 'w', 'r', 'o', 'n', 'g' } };

#define OBJECTS_MAX 4096
static struct {
    const void *type;
    const void *message;
} objects[OBJECTS_MAX];
static size_t objects_used;

static uintptr_t next_object(void)
{
    objects[objects_used % OBJECTS_MAX].message = &message;
    return (uintptr_t)&objects[objects_used++ % OBJECTS_MAX];
}

static uintptr_t next_id(void)
{
    static uintptr_t last = 0x10000000;

    return last += 16;
}

static bool has(const char *text, size_t size, const char *word)
{
    return memmem(text, size, word, strlen(word)) != NULL;
}

/* A name without a NUL, or numbers that are 0: whatever a pointer may point to. */
static uintptr_t buffer_for(const char *parameter, size_t size)
{
    static uint16_t names[BUFFER_SIZE / 2];
    static _Alignas(16) uint8_t numbers[PARAMETERS_MAX][BUFFER_SIZE];
    static unsigned next;

    if (has(parameter, size, "WCHAR")) {
        for (size_t i = 0; i < BUFFER_SIZE / 2; i++)
            names[i] = 'n';
        return (uintptr_t)names;
    }
    return (uintptr_t)memset(numbers[next++ % PARAMETERS_MAX], 0, BUFFER_SIZE);
}

static uintptr_t argument_for(const char *parameter, size_t size)
{
    if (has(parameter, size, "*"))
        return buffer_for(parameter, size);
    if (has(parameter, size, "HRESULT"))
        return S_OK;
    if (has(parameter, size, "c_generations"))
        return GENERATIONS;
    if (has(parameter, size, "ObjectID"))
        return next_object();
    if (has(parameter, size, "ULONG") || has(parameter, size, "UINT ") ||
        has(parameter, size, "DWORD"))
        return COUNT;
    if (has(parameter, size, "BOOL") || has(parameter, size, "COR_PRF"))
        return 1;
    return next_id();
}

static void fill_arguments(const char *parameters, uintptr_t arguments[PARAMETERS_MAX])
{
    for (size_t i = 0; *parameters && i < PARAMETERS_MAX; i++) {
        size_t size = strcspn(parameters, ",");

        arguments[i] = argument_for(parameters, size);
        parameters += size + (parameters[size] == ',');
    }
}

static bool is_of_its_life(const char *method)
{
    static const char *const names[] = { "Initialize",
                                         "InitializeForAttach",
                                         "Shutdown",
                                         "ProfilerAttachComplete",
                                         "ProfilerDetachSucceeded",
                                         "LoadAsNotificationOnly" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], method) == 0)
            return true;
    return false;
}

/* Takes more than any callback has, which is no matter to it. */
typedef HRESULT (*callback)(void *self, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                            uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                            uintptr_t, uintptr_t, uintptr_t);

struct slot {
    int number;
    const char *method;
    const char *parameters;
};

static void call(struct traced_object *object, const struct slot *slot, enum walk_arguments how)
{
    void *const *vtbl = (void *const *)(const void *)object->vtbl;
    uintptr_t a[PARAMETERS_MAX] = { 0 };

    if (how == WALK_PLAUSIBLE)
        fill_arguments(slot->parameters, a);
    TRACED_EXPECT(((callback)(uintptr_t)vtbl[slot->number])(object, a[0], a[1], a[2], a[3], a[4],
                                                            a[5], a[6], a[7], a[8], a[9], a[10],
                                                            a[11], a[12], a[13]) == S_OK);
}

unsigned walk_callbacks(struct traced_object *object, enum walk_arguments arguments)
{
    static const struct slot slots[] = {
#define CORPROF_SLOT(slot, method, ...) { slot, #method, #__VA_ARGS__ },
#include "callback_slots.def"
#undef CORPROF_SLOT
    };
    const struct slot *last = NULL;
    unsigned called = 0;

    for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
        if (is_of_its_life(slots[i].method))
            continue;
        called++;
        /* What moved and what stayed is told before the end of the collection. */
        if (strcmp(slots[i].method, "GarbageCollectionFinished") == 0)
            last = &slots[i];
        else
            call(object, &slots[i], arguments);
    }
    TRACED_EXPECT(last != NULL);
    call(object, last, arguments);
    return called;
}

#include "fake_stubs.h"

#include <stdint.h>
#include <string.h>

#define PARAMETERS_MAX 14
#define POISON 0x5a
#define POISON_32 0x5a5a5a5au
#define HUGE_NUMBER 0x7ffffff8u
#define NAME_WITHOUT_METHOD "Name"

struct fake_fault fake_fault;
_Atomic unsigned fake_calls[FAKE_OBJECTS][FAKE_SLOTS];
const char *_Atomic fake_misled;

struct row {
    const char *method;
    const char *shape; /* see fake_info_slots.def */
};

#define FAKE_SLOT(slot, method, shape) [slot] = { #method, shape },
static const struct row rows[FAKE_OBJECTS][FAKE_SLOTS] = {
    [FAKE_INFO] = { FAKE_SLOT(0, QueryInterface, ".p")
#include "fake_info_slots.def"
    },
    [FAKE_IMPORT] = { FAKE_SLOT(0, QueryInterface, ".p")
#include "fake_import_slots.def"
    },
    [FAKE_ENUM] = { FAKE_SLOT(7, Next, "cBl") },
};
#undef FAKE_SLOT

static const void *methods_of[FAKE_OBJECTS][FAKE_SLOTS];

const char *fake_method_name(enum fake_object object, int slot)
{
    return rows[object][slot].method;
}

bool fake_can_spoil(enum fake_object object, int slot, enum fake_spoil spoil)
{
    const char *shape = rows[object][slot].shape;

    if (!shape)
        return false;
    switch (spoil) {
    case FAKE_NAME_NO_LENGTH:
    case FAKE_NAME_NO_NUL:
    case FAKE_NAME_EMPTY:
    case FAKE_NAME_CUT:
        return strchr(shape, 'n') != NULL;
    case FAKE_COUNT_HUGE:
        return strchr(shape, 'l') != NULL;
    case FAKE_NUMBERS_HUGE:
        return strpbrk(shape, "dAB") != NULL;
    default:
        return true;
    }
}

/* Bytes of one element behind an out parameter; 0 for what goes in. */
static size_t out_size(char kind)
{
    switch (kind) {
    case 'w':
    case 'n':
        return 2;
    case 'd':
    case 'l':
    case 'A':
        return 4;
    case 'q':
    case 'p':
    case 'B':
        return 8;
    case 'C':
        return 16;
    case 'G':
        return 32;
    default:
        return 0;
    }
}

static bool is_buffer(char kind)
{
    return kind == 'n' || kind == 'A' || kind == 'B' || kind == 'C' || kind == 'G';
}

/* One call: the shape and the values of its parameters. */
struct call {
    const char *shape;
    const uintptr_t *parameters;
    uint32_t capacity; /* of its buffers */
    uint32_t *length;  /* may be NULL */
};

static struct call describe(const char *shape, const uintptr_t *parameters)
{
    struct call call = { .shape = shape, .parameters = parameters, .capacity = 1 };

    for (size_t i = 0; shape[i]; i++)
        if (shape[i] == 'c')
            call.capacity = (uint32_t)parameters[i];
        else if (shape[i] == 'l')
            call.length = (uint32_t *)parameters[i];
    return call;
}

/* Every out, buffers whole, gets one byte's pattern. */
static void fill_outs(const struct call *call, int byte)
{
    for (size_t i = 0; call->shape[i]; i++) {
        size_t size = out_size(call->shape[i]);
        void *out = (void *)call->parameters[i];

        if (size > 0 && out)
            memset(out, byte, is_buffer(call->shape[i]) ? size * call->capacity : size);
    }
}

static WCHAR *name_of(const struct call *call)
{
    const char *at = strchr(call->shape, 'n');

    return at ? (WCHAR *)call->parameters[at - call->shape] : NULL;
}

/* An answer that has no method of its own: small numbers, a name, memory that may be read. */
static void answer_by_shape(const struct call *call)
{
    static const uint64_t nothing[64];
    WCHAR *name = name_of(call);

    for (size_t i = 0; call->shape[i]; i++) {
        void *out = (void *)call->parameters[i];

        if (out && call->shape[i] == 'p')
            *(const void **)out = nothing;
        else if (out && out_size(call->shape[i]) > 0 && !is_buffer(call->shape[i]))
            memset(out, 1, 1);
        else if (out && is_buffer(call->shape[i]) && call->capacity > 0)
            memset(out, 0, out_size(call->shape[i]));
    }
    if (name)
        for (uint32_t i = 0; i < call->capacity && i < sizeof(NAME_WITHOUT_METHOD); i++)
            name[i] = (WCHAR)(NAME_WITHOUT_METHOD[i]);
    if (name && call->length)
        *call->length = sizeof(NAME_WITHOUT_METHOD);
}

static uint32_t units_of(const WCHAR *name, uint32_t capacity)
{
    uint32_t units = 0;

    while (units < capacity && name[units])
        units++;
    return units;
}

static void spoil_name(const struct call *call, enum fake_spoil spoil)
{
    WCHAR *name = name_of(call);
    uint32_t capacity = call->capacity, length = 0;

    if (!name || capacity == 0)
        return;
    switch (spoil) {
    case FAKE_NAME_NO_NUL:
        length = units_of(name, capacity);
        for (uint32_t i = length; i < capacity; i++)
            name[i] = 'X';
        break;
    case FAKE_NAME_EMPTY:
        name[0] = 0;
        length = 1;
        break;
    case FAKE_NAME_CUT:
        for (uint32_t i = 0; i < capacity; i++)
            name[i] = i + 1 < capacity ? 'c' : 0;
        length = capacity + 100;
        break;
    default:
        break;
    }
    if (call->length)
        *call->length = length;
}

static void spoil_counts(const struct call *call)
{
    WCHAR *name = name_of(call);

    for (uint32_t i = 0; name && i < call->capacity; i++)
        name[i] = 'e';
    if (call->length)
        *call->length = 0xffffffff;
}

static void spoil_numbers(const struct call *call)
{
    for (size_t i = 0; call->shape[i]; i++) {
        size_t words = strchr("AB", call->shape[i]) ? call->capacity * out_size(call->shape[i]) / 4
                       : call->shape[i] == 'd'      ? 1
                                                    : 0;
        uint32_t *out = (uint32_t *)call->parameters[i];

        for (size_t k = 0; out && k < words; k++)
            out[k] = HUGE_NUMBER;
    }
}

static void spoil(const struct call *call, enum fake_spoil how)
{
    switch (how) {
    case FAKE_OUTS_ZERO:
        fill_outs(call, 0);
        break;
    case FAKE_OUTS_POISON:
        fill_outs(call, POISON);
        break;
    case FAKE_COUNT_HUGE:
        spoil_counts(call);
        break;
    case FAKE_NUMBERS_HUGE:
        spoil_numbers(call);
        break;
    case FAKE_NAME_NO_LENGTH:
    case FAKE_NAME_NO_NUL:
    case FAKE_NAME_EMPTY:
    case FAKE_NAME_CUT:
        spoil_name(call, how);
        break;
    default:
        break;
    }
}

static void check_question(const struct row *row, const uintptr_t *parameters)
{
    bool is_about_something = strncmp(row->method, "Get", 3) == 0 && row->shape[0] == '.';

    if (is_about_something &&
        ((uint32_t)parameters[0] == POISON_32 || (uint32_t)parameters[0] == 0))
        fake_misled = row->method;
}

typedef HRESULT (*method)(void *self, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                          uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                          uintptr_t, uintptr_t, uintptr_t);

static HRESULT answer(enum fake_object object, int slot, void *self, const uintptr_t *a)
{
    struct call call = describe(rows[object][slot].shape, a);
    method method = (__typeof__(method))methods_of[object][slot];
    bool is_spoiled = fake_fault.armed && fake_fault.slot == slot && fake_fault.object == object;
    HRESULT hr = S_OK;

    fake_calls[object][slot]++;
    check_question(&rows[object][slot], a);
    /* Whoever answers without touching anything, or fails, hands nothing out either. */
    if (is_spoiled && fake_fault.spoil <= FAKE_OUTS_POISON && fake_fault.spoil != FAKE_AS_IT_IS) {
        spoil(&call, fake_fault.spoil);
        return fake_fault.hr;
    }
    if (method)
        hr = method(self, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11],
                    a[12], a[13]);
    else
        answer_by_shape(&call);
    if (!is_spoiled)
        return hr;
    spoil(&call, fake_fault.spoil);
    return fake_fault.hr;
}

/*
 * One stub for each slot, as a method does not know its place. It takes more parameters than any
 * method has; those that the caller did not give are whatever lies there, and are not looked at.
 */
#define STUB(object, slot)                                                                         \
    static HRESULT stub_##object##_##slot(void *self, uintptr_t a0, uintptr_t a1, uintptr_t a2,    \
                                          uintptr_t a3, uintptr_t a4, uintptr_t a5, uintptr_t a6,  \
                                          uintptr_t a7, uintptr_t a8, uintptr_t a9, uintptr_t a10, \
                                          uintptr_t a11, uintptr_t a12, uintptr_t a13)             \
    {                                                                                              \
        const uintptr_t a[PARAMETERS_MAX] = { a0, a1, a2, a3,  a4,  a5,  a6,                       \
                                              a7, a8, a9, a10, a11, a12, a13 };                    \
                                                                                                   \
        return answer(object, slot, self, a);                                                      \
    }

STUB(FAKE_INFO, 0)
#define FAKE_SLOT(slot, method, shape) STUB(FAKE_INFO, slot)
#include "fake_info_slots.def"
#undef FAKE_SLOT
STUB(FAKE_IMPORT, 0)
#define FAKE_SLOT(slot, method, shape) STUB(FAKE_IMPORT, slot)
#include "fake_import_slots.def"
#undef FAKE_SLOT
STUB(FAKE_ENUM, 7)

static const void *vtbls[FAKE_OBJECTS][FAKE_SLOTS] = {
#define FAKE_SLOT(slot, method, shape) [slot] = (const void *)stub_FAKE_INFO_##slot,
    [FAKE_INFO] = {
        FAKE_SLOT(0, QueryInterface, "")
#include "fake_info_slots.def"
    },
#undef FAKE_SLOT
#define FAKE_SLOT(slot, method, shape) [slot] = (const void *)stub_FAKE_IMPORT_##slot,
    [FAKE_IMPORT] = {
        FAKE_SLOT(0, QueryInterface, "")
#include "fake_import_slots.def"
    },
#undef FAKE_SLOT
    [FAKE_ENUM] = {
        [7] = (const void *)stub_FAKE_ENUM_7,
    },
};

const void *fake_vtbl(enum fake_object object, const void *methods, size_t size)
{
    memcpy(methods_of[object], methods, size);
    /* What has no shape, AddRef and Release, is the fake's own or nobody's. */
    for (size_t i = 0; i < size / sizeof(void *); i++)
        if (!vtbls[object][i])
            vtbls[object][i] = methods_of[object][i];
    return vtbls[object];
}

#include "exception_message.h"

#include <stdatomic.h>
#include <string.h>

#include "info_heap.h"
#include "text.h"

#define MESSAGE_FIELD "_message"
#define ANCESTORS_MAX 32
#define CLASSES_KNOWN 1024u
#define PROBES_MAX 8
#define ATTEMPTS_MAX 16 /* to find the layout; then messages are left out */

/* Where things lie, the same for all exceptions of the process: three offsets of 16 bits, packed so
 * that they are known at once. 0 = not known yet. */
static _Atomic uint64_t layout;
static _Atomic unsigned attempts;
static _Atomic ClassID root; /* System.Exception */

/* Objects begin with something else than their class, as far as is known. */
static _Atomic bool begins_otherwise;

/* Classes that derive from it: a set that only grows, cleared as a whole. */
static _Atomic ClassID classes[CLASSES_KNOWN];

static _Atomic ClassID *place_of(ClassID class_id, size_t probe)
{
    size_t hash = (size_t)((class_id >> 3) * 0x9e3779b97f4a7c15u >> 32);

    return &classes[(hash + probe) & (CLASSES_KNOWN - 1)];
}

static bool is_known(ClassID class_id)
{
    for (size_t i = 0; i < PROBES_MAX; i++)
        if (atomic_load_explicit(place_of(class_id, i), memory_order_relaxed) == class_id)
            return true;
    return false;
}

static void set_known(ClassID class_id)
{
    for (size_t i = 0; i < PROBES_MAX; i++) {
        ClassID seen = 0;

        if (atomic_compare_exchange_strong_explicit(place_of(class_id, i), &seen, class_id,
                                                    memory_order_relaxed, memory_order_relaxed))
            return;
    }
}

void exception_message_forget(void)
{
    for (size_t i = 0; i < CLASSES_KNOWN; i++)
        atomic_store_explicit(&classes[i], 0, memory_order_relaxed);
}

/* The ancestor just below System.Object, the class itself perhaps. */
static bool find_root(struct corprof_info *info, ClassID class_id, ClassID *out_root)
{
    ClassID parent, grandparent;

    for (int i = 0; i < ANCESTORS_MAX; i++) {
        if (!info_class_parent(info, class_id, &parent) || parent == 0 ||
            !info_class_parent(info, parent, &grandparent))
            return false;
        if (grandparent == 0) {
            *out_root = class_id;
            return true;
        }
        class_id = parent;
    }
    return false;
}

/* System.Exception is the class below System.Object that has the field. */
static bool find_layout(struct corprof_info *info, ClassID candidate)
{
    struct info_string_layout string;
    uint32_t message;

    if (atomic_fetch_add_explicit(&attempts, 1, memory_order_relaxed) >= ATTEMPTS_MAX)
        return false;
    if (!info_field_offset(info, candidate, MESSAGE_FIELD, &message) ||
        !info_string_layout(info, &string))
        return false;
    atomic_store_explicit(&root, candidate, memory_order_relaxed);
    /* Whoever sees the offsets sees whose they are. */
    atomic_store_explicit(&layout,
                          (uint64_t)message << 32 | (uint64_t)string.length << 16 | string.buffer,
                          memory_order_release);
    return true;
}

static bool has_message(struct corprof_info *info, ClassID class_id)
{
    ClassID ancestor;

    if (is_known(class_id))
        return true;
    if (!find_root(info, class_id, &ancestor))
        return false;
    if (atomic_load_explicit(&layout, memory_order_acquire) == 0 && !find_layout(info, ancestor))
        return false;
    if (ancestor != atomic_load_explicit(&root, memory_order_relaxed))
        return false;
    set_known(class_id);
    return true;
}

ClassID exception_class(struct corprof_info *info, ObjectID object)
{
    ClassID class_id, begins_with;

    if (!object)
        return 0;
    /* Before the first of them is known there is nothing to compare with. */
    if (atomic_load_explicit(&layout, memory_order_relaxed) == 0)
        return info_class_of_object(info, object, &class_id) ? class_id : 0;
    begins_with = *(const ClassID *)object;
    if (begins_with && is_known(begins_with) &&
        !atomic_load_explicit(&begins_otherwise, memory_order_relaxed))
        return begins_with;
    if (!info_class_of_object(info, object, &class_id))
        return 0;
    if (class_id != begins_with)
        atomic_store_explicit(&begins_otherwise, true, memory_order_relaxed);
    return class_id;
}

size_t exception_message(struct corprof_info *info, ClassID class_id, ObjectID object, char *text,
                         bool *out_cut)
{
    uint64_t offsets;
    uintptr_t string;
    uint32_t length;

    *out_cut = false;
    if (!class_id || !has_message(info, class_id))
        return 0;
    offsets = atomic_load_explicit(&layout, memory_order_acquire);
    string = *(const uintptr_t *)(object + (offsets >> 32 & 0xffff));
    if (string == 0)
        return 0;
    length = *(const uint32_t *)(string + (offsets >> 16 & 0xffff));
    *out_cut = length > EXCEPTION_MESSAGE_UNITS_MAX;
    if (*out_cut)
        length = EXCEPTION_MESSAGE_UNITS_MAX;
    return text_from_utf16((const uint16_t *)(string + (offsets & 0xffff)), length, text,
                           EXCEPTION_MESSAGE_MAX);
}

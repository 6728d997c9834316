/*
 * What stands in every slot of the fake runtime's objects. It counts the call, lets the fake's own
 * method answer where there is one (and answers by the slot's shape where there is none), and then
 * spoils the answer if the test chose that slot. So a method that the profiler begins to call is
 * there, and is spoiled by test_fault.c, without a line of code here.
 */
#ifndef TRD_TESTS_FAKE_STUBS_H
#define TRD_TESTS_FAKE_STUBS_H

#include <stdbool.h>

#include "corprof.h"

enum fake_object {
    FAKE_INFO,   /* ICorProfilerInfo … 15 */
    FAKE_IMPORT, /* IMetaDataImport, IMetaDataImport2 */
    FAKE_ENUM,   /* the enumerators */
    FAKE_OBJECTS
};
#define FAKE_SLOTS 115

enum fake_spoil {
    FAKE_AS_IT_IS,
    FAKE_OUTS_UNTOUCHED,
    FAKE_OUTS_ZERO,
    FAKE_OUTS_POISON,    /* what no caller may use: for failures */
    FAKE_NAME_NO_LENGTH, /* the text is there, its length is given as 0 */
    FAKE_NAME_NO_NUL,    /* the length is the text's, and nothing ends it in the buffer */
    FAKE_NAME_EMPTY,     /* length 1, a NUL */
    FAKE_NAME_CUT,       /* S_OK, the buffer full to its NUL, the length beyond it */
    FAKE_COUNT_HUGE,     /* lengths and counts of 0xffffffff, buffers full without an end */
    FAKE_NUMBERS_HUGE,   /* sizes, offsets and tokens that lead nowhere */
    FAKE_SPOILS
};

struct fake_fault {
    bool armed;
    enum fake_object object;
    int slot;
    HRESULT hr;
    enum fake_spoil spoil;
};

extern struct fake_fault fake_fault;
extern _Atomic unsigned fake_calls[FAKE_OBJECTS][FAKE_SLOTS];
/* The first Get… that was asked about 0, or about what a failing call left: NULL if none was. */
extern const char *_Atomic fake_misled;

/* The vtable of an object, FAKE_SLOTS entries; `methods` are the fake's own, NULL where it has
 * none. */
const void *fake_vtbl(enum fake_object object, const void *methods, size_t size);
/* NULL for a slot that the object does not have. */
const char *fake_method_name(enum fake_object object, int slot);
/* Whether spoiling the slot so changes anything. */
bool fake_can_spoil(enum fake_object object, int slot, enum fake_spoil spoil);

#endif

/*
 * An ICorProfilerInfo, its enumerators and an IMetaDataImport without a runtime behind them. A test
 * chooses how every method answers, so that each kind of odd answer that runtimes give (and some
 * they do not give yet) reaches every caller. One per process.
 */
#ifndef TRD_TESTS_FAKE_INFO_H
#define TRD_TESTS_FAKE_INFO_H

#include <stdbool.h>

#include "corprof.h"

enum fake_fill {
    FAKE_FULL,      /* a good answer */
    FAKE_UNTOUCHED, /* outs stay as they were */
    FAKE_ZERO,      /* outs are set to 0 or NULL */
    FAKE_ENDLESS,   /* names fill the buffer and have no NUL; lengths are beyond it */
};

struct fake {
    /* chosen by the test */
    HRESULT hr;
    enum fake_fill fill;
    int newest;    /* ICorProfilerInfo that is answered; 0 = none */
    ULONG items;   /* of each enumeration */
    ULONG claimed; /* more than were asked for: what a broken Next would say; 0 = the truth */
    bool dynamic;  /* functions have no metadata */
    _Atomic bool holding; /* whoever asks for an object's class waits */

    /* seen by the test */
    _Atomic unsigned refs_out; /* enumerators and imports handed out and not released */
    _Atomic DWORD mask_low, mask_high;
    _Atomic unsigned masks_set;
    _Atomic unsigned detaches;
    _Atomic unsigned class_questions; /* GetClassIDInfo */
    _Atomic unsigned held;            /* came to wait */
};

extern struct fake fake;

/* What the good answers say. */
#define FAKE_MODULE 0x1000u
#define FAKE_BASE 0x2000u
#define FAKE_ASSEMBLY 0x3000u
#define FAKE_METHOD_TOKEN 0x06000007u
#define FAKE_OUTER_TYPE 0x02000002u
#define FAKE_INNER_TYPE 0x02000003u /* nested in the outer one */
#define FAKE_FUNCTION 0x4000u
#define FAKE_CODE 0x5000u
#define FAKE_CODE_SIZE 0x60u
#define FAKE_USED 0x100u
#define FAKE_RESERVED 0x1000u
#define FAKE_OS_TID 77u
#define FAKE_TYPE_NAME "Space.Outer+Inner"
#define FAKE_METHOD_NAME "Space.Outer+Inner.Run"

/* Good answers everywhere, of a .NET 10; returns what Initialize is given. */
void *fake_reset(void);
struct corprof_info *fake_info(void);

#endif

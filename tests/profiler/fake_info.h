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

#define FAKE_CONFIGS 8

struct fake {
    /* chosen by the test */
    HRESULT hr;
    enum fake_fill fill;
    int newest;    /* ICorProfilerInfo that is answered; 0 = none */
    ULONG items;   /* of each enumeration */
    ULONG claimed; /* more than were asked for: what a broken Next would say; 0 = the truth */
    bool dynamic;  /* functions have no metadata */
    _Atomic bool holding;   /* whoever asks for an object's class waits */
    ClassID function_class; /* that GetFunctionInfo2 tells; 0 = shared code */
    mdTypeDef method_type;  /* that the method is in; 0 = the inner one */
    const char *method;     /* its name; NULL = Run */
    ULONG32 arguments;      /* of the method, each FAKE_PLAIN_CLASS */
    bool has_builder;       /* types have the method that was looked for */
    /* Objects are memory laid out as exceptions: a message at FAKE_MESSAGE_AT, NULL or a string
     * with its length at FAKE_LENGTH_AT and its units at FAKE_UNITS_AT. Otherwise they are mere
     * numbers. */
    bool objects;
    const uint8_t *image; /* of every module, as a file has it; NULL = nothing lies there */
    mdToken method_token; /* 0 = FAKE_METHOD_TOKEN */
    _Atomic bool staying; /* what has been asked for in Initialize cannot be left */

    /* seen by the test */
    UINT_PTR (*map)(FunctionID function, void *data, BOOL *hook); /* that was set */
    COR_PRF_ELT_HOOK *enter, *leave, *tailcall;                   /* likewise, with info */
    _Atomic unsigned refs_out; /* enumerators and imports handed out and not released */
    _Atomic DWORD mask_low, mask_high;
    _Atomic unsigned masks_set;
    _Atomic unsigned detaches;
    _Atomic unsigned detaches_refused;
    _Atomic unsigned variables_unset;
    char names_unset[1024];           /* ";NAME;NAME;" */
    _Atomic unsigned held;            /* came to wait */
    _Atomic unsigned class_questions; /* GetClassIDInfo2 */
    _Atomic unsigned metadata_opened;
    _Atomic unsigned sessions_started, sessions_stopped;
    uint32_t config_count; /* of the session started last */
    struct {
        char name[64];
        uint64_t keywords;
        uint32_t level;
    } configs[FAKE_CONFIGS];
};

extern struct fake fake;

/* What the good answers say. */
#define FAKE_MODULE 0x1000u
#define FAKE_BASE 0x2000u
#define FAKE_ASSEMBLY 0x3000u
#define FAKE_FLAT 0x20u /* COR_PRF_MODULE_FLAT_LAYOUT */
#define FAKE_METHOD_TOKEN 0x06000007u
#define FAKE_OUTER_TYPE 0x02000002u
#define FAKE_INNER_TYPE 0x02000003u   /* nested in the outer one */
#define FAKE_BOX_TYPE 0x02000004u     /* Space.Box`1 */
#define FAKE_MACHINE_TYPE 0x02000005u /* <PutAsync>d__3`1, nested in it */
#define FAKE_PAIR_TYPE 0x02000006u    /* Space.Pair`2 */
#define FAKE_FUNCTION 0x4000u
/* Classes; any other id is the inner type. */
#define FAKE_PLAIN_CLASS 0x6000u
#define FAKE_BOX_CLASS 0x6100u      /* of plain */
#define FAKE_GRID_CLASS 0x6200u     /* plain[,] */
#define FAKE_GRIDS_CLASS 0x6300u    /* plain[,][] */
#define FAKE_PAIR_CLASS 0x6400u     /* of box and grid */
#define FAKE_DEEP_CLASS 0x6500u     /* a box of itself */
#define FAKE_MACHINE_CLASS 0x6600u  /* of plain and grid */
#define FAKE_POINTER_CLASS 0x6700u  /* nothing is told of it */
#define FAKE_POINTERS_CLASS 0x6800u /* array of it */
#define FAKE_CODE 0x5000u
#define FAKE_CODE_SIZE 0x60u
#define FAKE_USED 0x100u
#define FAKE_RESERVED 0x1000u
#define FAKE_EXCEPTION_CLASS 0x700u
#define FAKE_OBJECT_CLASS 0x708u
#define FAKE_MESSAGE_FIELD 0x04000009u
#define FAKE_CLASS_OF_OBJECT 8u /* that much more than its address */
#define FAKE_MESSAGE_AT 8u
#define FAKE_LENGTH_AT 8u
#define FAKE_UNITS_AT 12u
#define FAKE_OS_TID 77u
#define FAKE_SESSION 0x6000u
#define FAKE_RUNTIME_PROVIDER 0x7000u
#define FAKE_OTHER_PROVIDER 0x7100u
#define FAKE_TYPE_NAME "Space.Outer+Inner"
#define FAKE_METHOD_NAME "Space.Outer+Inner.Run"

/* Good answers everywhere, of a .NET 10; returns what Initialize is given. */
void *fake_reset(void);
struct corprof_info *fake_info(void);

#endif

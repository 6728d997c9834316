#include "elt.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "attach.h"
#include "callbacks.h"
#include "elt_hooks.h"
#include "elt_pattern.h"
#include "elt_plan.h"
#include "elt_set.h"
#include "gate.h"
#include "info_elt.h"
#include "log.h"
#include "names.h"
#include "names_known.h"
#include "profiler.h"

#if defined(__x86_64__) || defined(__aarch64__)
#define HAS_STUBS 1
#else
#define HAS_STUBS 0
#endif

static struct elt_patterns patterns; /* constant once elt_choose has returned */
static bool may_hook;
static bool tells_values;      /* what methods are given and return */
static _Atomic bool is_untold; /* some hooked method has no definition yet */

bool elt_is_active(void)
{
    return may_hook;
}

/* The choice */

static bool matches(FunctionID function, ModuleID *out_module)
{
    struct method_name name;

    names_method(profiler_get()->info, function, &name);
    *out_module = name.module;
    return elt_patterns_match(&patterns, name.text, name.size);
}

bool elt_takes(FunctionID function)
{
    ModuleID module;
    bool takes;

    if (!may_hook)
        return false;
    switch (elt_set_find(function)) {
    case ELT_SET_TAKEN:
        return true;
    case ELT_SET_LEFT:
        return false;
    case ELT_SET_UNKNOWN:
        break;
    }
    takes = matches(function, &module) && (!tells_values || elt_call_allows(function));
    elt_set_add(function, module, takes);
    return takes;
}

/* Hooks cannot ask for a name: a definition that found no room is given by the sender. */
static void define(FunctionID function)
{
    emit_method(function, TRD_CATEGORY_METHOD);
    if (!names_is_known(NAMES_METHODS, function))
        atomic_store(&is_untold, true);
}

/* Called for each compiled body, by several threads at once; what it returns comes to the hooks. */
static UINT_PTR map(FunctionID function, void *data, BOOL *hook)
{
    bool takes = elt_takes(function);

    (void)data;
    if (takes && gate_wants(TRD_CATEGORY_METHOD))
        define(function);
    *hook = takes;
    return takes && tells_values ? elt_id_of(function) : function;
}

void elt_choose(bool allowed)
{
    static char *text; /* the patterns refer to it */
    const char *list = getenv(TRD_ENV_METHODS), *arguments = getenv(TRD_ENV_ARGUMENTS);

    may_hook = false;
    tells_values = arguments && strcmp(arguments, "1") == 0;
    if (!list || !*list)
        return;
    if (!allowed || !HAS_STUBS) {
        log_line("methods cannot be traced %s",
                 HAS_STUBS ? "by a profiler that is not the main one from the start"
                           : "on this machine's architecture");
        return;
    }
    free(text);
    text = strdup(list);
    if (text && elt_patterns_parse(&patterns, text) != 0)
        log_line("%s holds more than %d patterns", TRD_ENV_METHODS, ELT_PATTERNS_MAX);
    may_hook = text && patterns.count > 0;
}

DWORD elt_event_mask(void)
{
    DWORD values = tells_values ? COR_PRF_ENABLE_FUNCTION_ARGS | COR_PRF_ENABLE_FUNCTION_RETVAL : 0;

    /* JITInlining comes with the JIT's events, unwinding with those of exceptions. */
    return may_hook ? COR_PRF_MONITOR_ENTERLEAVE | COR_PRF_MONITOR_JIT_COMPILATION |
                          COR_PRF_MONITOR_EXCEPTIONS | values
                    : 0;
}

static bool set_hooks(struct corprof_info *info)
{
#if HAS_STUBS
    if (tells_values)
        return elt_call_start(info);
    return info_set_hooks(info, elt_stub_enter, elt_stub_leave, elt_stub_tailcall);
#else
    (void)info;
    return false;
#endif
}

bool elt_start(struct corprof_info *info)
{
    if (!may_hook)
        return false;
    may_hook = set_hooks(info) && info_set_mapper(info, map);
    if (!may_hook)
        log_line("the runtime refuses hooks in methods");
    return may_hook;
}

struct teller {
    bool (*go_on)(void *context);
    void *context;
};

static bool tell(void *context, FunctionID function)
{
    const struct teller *teller = context;

    define(function);
    return teller->go_on(teller->context);
}

void elt_catch_up(bool (*go_on)(void *context), void *context)
{
    struct teller teller = { go_on, context };

    elt_set_each_taken(tell, &teller);
}

static bool always(void *context)
{
    (void)context;
    return true;
}

void elt_tell_untold(void)
{
    if (atomic_exchange(&is_untold, false) && gate_wants(TRD_CATEGORY_METHOD))
        elt_catch_up(always, NULL);
}

void elt_forget(ModuleID module)
{
    if (may_hook)
        elt_set_forget(module);
    if (may_hook && tells_values)
        elt_plans_forget(module);
}

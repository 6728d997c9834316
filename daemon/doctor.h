/*
 * What `tracerd doctor` is made of: steps in the order in which run and --pid take them, each of
 * which looks at one thing and says what it found. A step that cannot be looked at because an
 * earlier one failed says so with "-" and is no failure of its own; so the first "no" is the cause.
 */
#ifndef TRACERD_DAEMON_DOCTOR_H
#define TRACERD_DAEMON_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "dotnet_target.h"
#include "elf_file.h"
#include "options.h"
#include "tracefs_linux.h"

enum doctor_verdict {
    DOCTOR_NONE, /* "-": does not apply, or an earlier step is in the way */
    DOCTOR_OK,
    DOCTOR_NO,
};

struct doctor_finding {
    enum doctor_verdict verdict;
    char found[320];
    char advice[320]; /* with DOCTOR_NO: one sentence */
};

struct doctor {
    const struct options *options; /* borrowed from main until the end */
    struct tracefs_instance instance;
    char library[512];         /* path of the profiler's; "" = not found */
    struct elf_image profiler; /* its content */
    struct dotnet_target target;
    bool is_there;          /* the target lives and is ours to look at */
    bool is_visible;        /* and its /proc entries can be read */
    bool is_running;        /* and it is neither stopped nor frozen */
    bool has_socket;        /* its diagnostics socket was found */
    char runtime[512];      /* directory of its libcoreclr.so, as it sees it; "" = not found */
    unsigned runtime_major; /* 0 = not known */
};

struct doctor_step {
    const char *group;
    const char *name; /* key in the JSON */
    bool is_needed;   /* a "no" makes the whole answer one */
    void (*look)(struct doctor *doctor, struct doctor_finding *out);
};

void doctor_ok(struct doctor_finding *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The advice is a sentence of its own; what was found follows. */
void doctor_no(struct doctor_finding *out, const char *advice, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void doctor_none(struct doctor_finding *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Each list ends with a row without a name. */
extern const struct doctor_step doctor_kernel_steps[];
extern const struct doctor_step doctor_library_steps[];
extern const struct doctor_step doctor_process_steps[];
extern const struct doctor_step doctor_dotnet_steps[];

#endif

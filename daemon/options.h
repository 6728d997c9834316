/*
 * The command line: one table of options (name, type, default, help), one struct of results.
 * Parsing only; every complaint is one sentence that says what, where and what to do. No I/O.
 */
#ifndef TRACERD_DAEMON_OPTIONS_H
#define TRACERD_DAEMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "buffer.h"
#include "event.h"

/* Exit codes; `run` ends with the command's own status instead of 0. */
enum exit_code {
    EXIT_COMPLETE = 0,
    EXIT_USAGE = 2,
    EXIT_NOTHING = 3, /* nothing could be read */
    EXIT_PARTIAL = 4, /* damage or loss of input, told on stderr */
};

enum command {
    COMMAND_SERVICE, /* no command word */
    COMMAND_ATTACH,  /* --pid PID */
    COMMAND_RUN,
    COMMAND_REPLAY,
    COMMAND_DOCTOR,
    COMMAND_TRIGGER,
    COMMAND_HELP,
    COMMAND_VERSION,
};

#define CLIENTS_MAX_LIMIT 1024 /* each may hold some megabytes of lines */
#define OPTIONS_LIST_MAX 64    /* -o, -e and the like: more is a mistake, not a wish */

/* Categories that a process must be started with: the runtime grants them to its main profiler and
 * before the first method only. */
#define OPTIONS_FROM_THE_START (TRD_CATEGORY_BIT(METHOD) | TRD_CATEGORY_BIT(TRANSITION))

struct options {
    enum command command;
    pid_t pid;
    char **arguments; /* run: CMD ARGS…; replay: FILE…; NULL-terminated, borrowed from argv */
    int argument_count;

    const char *outputs[OPTIONS_LIST_MAX]; /* -o; "-" is standard output */
    size_t output_count;
    bool needs_output;                    /* convert */
    const char *compress;                 /* --compress, of .dat: zstd; NULL = not */
    uint64_t rotate_bytes, rotate_ns;     /* --rotate; 0 = no */
    uint64_t keep_bytes;                  /* --keep; 0 = everything */
    const char *events[OPTIONS_LIST_MAX]; /* -e SYSTEM:EVENT globs; none = the default set */
    size_t event_count;
    uint32_t clr_categories;               /* --clr; mask of TRD_CATEGORY_BIT */
    const char *methods[OPTIONS_LIST_MAX]; /* --methods; each a comma list of patterns */
    size_t method_count;
    bool call_values;                        /* --arguments: and what they are given and return */
    bool follow;                             /* --follow */
    const char *providers[OPTIONS_LIST_MAX]; /* --provider NAME[:KEYWORDS[:LEVEL]] */
    size_t provider_count;
    const char *stamp;  /* --stamp: monotonic or tsc; NULL = monotonic */
    const char *filter; /* --filter; NULL = all */
    uint64_t offcpu_ns; /* --offcpu: spans from this on; 0 = none */
    const char *clock;  /* --clock: of the lines; NULL = mono, of recordings as they are */
    bool all;           /* kernel events of the whole machine */
    bool user_stacks;   /* behind kernel events */
    bool no_kernel;
    bool no_clr;
    const char *flight; /* --flight TIME[,SIZE]; NULL = no flight recorder */
    uint64_t flight_ns;
    uint64_t flight_bytes;
    const char *trigger;      /* --trigger; NULL = signal and command only */
    uint64_t after_ns;        /* --after */
    uint64_t flight_every_ns; /* --flight-every */
    uint64_t duration_ns;     /* 0 = until the end */
    uint64_t max_delay_ns;
    uint64_t kernel_buffer_bytes; /* per CPU; 0 = default */
    struct trd_buffer clr_buffer; /* of a traced process; zeroes = the profiler's own default */
    bool summary;
    bool json; /* one object instead of text for people */
    bool quiet;
    int verbose;
    const char *config_path; /* -c */
    const char *runtime_dir; /* of the service; sockets live there */
    unsigned clients_max;    /* consumers of the service at a time */
};

/* 0, or EXIT_USAGE after one sentence on stderr. argv must outlive the options. */
int options_parse(struct options *options, int argc, char **argv);

/* --rotate and --keep, or what a configuration says in their place: EXIT_USAGE after one sentence
 * if they do not go together. */
int options_check_rotation(struct options *options);

/* Writes the help text, made from the table. */
void options_print_help(void);

#endif

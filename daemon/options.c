#include "options.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "clock_anchor.h"
#include "event.h"
#include "log.h"
#include "option_values.h"
#include "options_flight.h"

#define MAX_DELAY_DEFAULT_NS UINT64_C(250000000)
#define CLIENTS_MAX_DEFAULT 16
#define FLIGHT_BYTES_DEFAULT (64u << 20)
#define FLIGHT_AFTER_DEFAULT_NS UINT64_C(5000000000)
#define FLIGHT_EVERY_DEFAULT_NS UINT64_C(60000000000)

/* Which commands know an option. */
#define FOR_RUN (1u << COMMAND_RUN)
#define FOR_ATTACH (1u << COMMAND_ATTACH)
#define FOR_REPLAY (1u << COMMAND_REPLAY)
#define FOR_SERVICE (1u << COMMAND_SERVICE)
#define FOR_DOCTOR (1u << COMMAND_DOCTOR)
#define FOR_TRIGGER (1u << COMMAND_TRIGGER)
#define FOR_LIVE (FOR_RUN | FOR_ATTACH)
#define FOR_STREAM (FOR_LIVE | FOR_REPLAY)
#define FOR_ALL (FOR_STREAM | FOR_SERVICE | FOR_DOCTOR)

enum option_type {
    TYPE_FLAG,
    TYPE_COUNTER,
    TYPE_TEXT,
    TYPE_LIST,
    TYPE_TIME,
    TYPE_SIZE,
    TYPE_ROTATION,
    TYPE_BUFFER,
    TYPE_PID,
    TYPE_CATEGORIES,
    TYPE_COMMAND,
};

struct option_row {
    const char *group; /* heading in the help; NULL = that of the row before */
    const char *name;
    char letter;
    enum option_type type;
    size_t offset;       /* in struct options */
    size_t count_offset; /* TYPE_LIST */
    unsigned commands;
    const char *value; /* for the help; NULL = takes none */
    const char *help;
};

#define AT(member) offsetof(struct options, member)

static const struct option_row rows[] = {
    { "Output", "output", 'o', TYPE_LIST, AT(outputs), AT(output_count), FOR_STREAM, "FILE",
      "to FILE, in the form of its extension: .ndjson, .ndjson.zst, .dat (trace-cmd,\n"
      "KernelShark), .pftrace (Perfetto), .json (Chrome); - is NDJSON to standard output;\n"
      "repeatable (default: -, of run tracerd-PID.ndjson)" },
    { NULL, "rotate", 0, TYPE_ROTATION, 0, 0, FOR_STREAM, "LIMIT",
      "a new file each SIZE (256M) or TIME (10m), or both if given twice: of trace.ndjson.zst\n"
      "trace.000001.ndjson.zst, trace.000002.ndjson.zst, …; for .ndjson and .ndjson.zst" },
    { NULL, "keep", 0, TYPE_SIZE, AT(keep_bytes), 0, FOR_STREAM, "SIZE",
      "delete the oldest of these files before all have more than SIZE, or when the disk is full" },
    { NULL, "compress", 0, TYPE_TEXT, AT(compress), 0, FOR_STREAM, "CODEC",
      "of a .dat: zstd, at its end; else its pages are as the kernel had them" },
    { NULL, "clock", 0, TYPE_TEXT, AT(clock), 0, FOR_STREAM | FOR_SERVICE, "NAME",
      "the clock of times in lines: mono (default), realtime or boot" },
    { NULL, "summary", 0, TYPE_FLAG, AT(summary), 0, FOR_STREAM, NULL,
      "print what happened, and what is missing, on standard error at the end" },
    { NULL, "json", 0, TYPE_FLAG, AT(json), 0, FOR_DOCTOR, NULL,
      "one JSON object instead of text" },
    { NULL, "quiet", 'q', TYPE_FLAG, AT(quiet), 0, FOR_ALL | FOR_TRIGGER, NULL,
      "only errors on standard error" },
    { NULL, "verbose", 'v', TYPE_COUNTER, AT(verbose), 0, FOR_ALL, NULL,
      "say more on standard error" },
    { "What to trace", "event", 'e', TYPE_LIST, AT(events), AT(event_count), FOR_STREAM,
      "SYSTEM:EVENT",
      "kernel events, a glob like 'irq:*'; repeatable (default: sched, signal, irq, page\n"
      "faults, block; of replay all)" },
    { NULL, "clr", 0, TYPE_CATEGORIES, AT(clr_categories), 0, FOR_STREAM, "LIST",
      "CLR categories, of\n" OPTION_CATEGORIES
      "\n(default: default, which is all but the costly ones" OPTION_CATEGORIES_OPT_IN
      ";\nof replay all)" },
    { NULL, "methods", 0, TYPE_LIST, AT(methods), AT(method_count), FOR_LIVE, "PATTERN",
      "tell when methods are entered and left: 'Shop.Cart.*,!Shop.Cart.get_*'; repeatable;\n"
      "with run only" },
    { NULL, "arguments", 0, TYPE_FLAG, AT(call_values), 0, FOR_RUN, NULL,
      "with --methods: what each call is given and returns" },
    { NULL, "provider", 0, TYPE_LIST, AT(providers), AT(provider_count), FOR_LIVE, "PROVIDER",
      "events of an EventSource, NAME[:KEYWORDS[:LEVEL]], as in System.Net.Http or\n"
      "My-Source:3f:4: keywords hexadecimal (default: all), level 1 critical to 5 verbose\n"
      "(default: 5); repeatable; .NET 5 and later" },
    { NULL, "stamp", 0, TYPE_TEXT, AT(stamp), 0, FOR_RUN, "CLOCK",
      "how the profiler takes the time: monotonic (default), or tsc, which costs a third and is\n"
      "converted here" },
    { NULL, "filter", 0, TYPE_TEXT, AT(filter), 0, FOR_STREAM, "EXPR",
      "only events whose fields fit: 'prev_state & D && next_prio < 100',\n"
      "'comm ~ \"dot*\" || next_comm ~ \"dot*\"', 'tid == 42 && name ~ \"sched:*\"'" },
    { NULL, "offcpu", 0, TYPE_TIME, AT(offcpu_ns), 0, FOR_STREAM | FOR_SERVICE, "TIME",
      "a span sched:offcpu for each time a thread does not run for TIME or longer, with the\n"
      "state it left in and who woke it; needs sched_switch and sched_waking" },
    { NULL, "all", 0, TYPE_FLAG, AT(all), 0, FOR_LIVE, NULL,
      "kernel events of the whole machine, not only of what is traced" },
    { NULL, "user-stacks", 0, TYPE_FLAG, AT(user_stacks), 0, FOR_LIVE | FOR_SERVICE, NULL,
      "after each kernel event the user-space stack of its thread, up to 8 frames, with\n"
      "the managed methods named" },
    { NULL, "no-kernel", 0, TYPE_FLAG, AT(no_kernel), 0, FOR_ALL, NULL, "no kernel events" },
    { NULL, "no-clr", 0, TYPE_FLAG, AT(no_clr), 0, FOR_ALL, NULL, "no CLR events" },
    { NULL, "follow", 0, TYPE_FLAG, AT(follow), 0, FOR_RUN, NULL,
      "also the .NET programs that a traced .NET program starts" },
    { "Flight recorder", "flight", 0, TYPE_TEXT, AT(flight), 0, FOR_LIVE, "TIME",
      "keep the last TIME in memory, or TIME,SIZE: at most so much (default: 64M); write a\n"
      "recording when the trigger fires; each -o (default: flight.dat) gets a number:\n"
      "flight.000001.dat" },
    { NULL, "trigger", 0, TYPE_TEXT, AT(trigger), 0, FOR_LIVE, "EXPR",
      "what fires it (then --flight 30s is the default), beside SIGUSR1:\n"
      "'clr:gc_pause && dur > 50ms',\n"
      "'clr:exception_thrown && type == \"System.TimeoutException\"'" },
    { NULL, "after", 0, TYPE_TIME, AT(after_ns), 0, FOR_LIVE, "TIME",
      "how long a recording goes on behind its trigger (default: 5s)" },
    { NULL, "flight-every", 0, TYPE_TIME, AT(flight_every_ns), 0, FOR_LIVE, "TIME",
      "no recording sooner behind the last one; triggers in between are counted (default: 60s)" },
    { "Live", "pid", 0, TYPE_PID, AT(pid), 0, FOR_ATTACH | FOR_DOCTOR | FOR_TRIGGER, "PID",
      "attach to a running .NET process" },
    { NULL, "duration", 0, TYPE_TIME, AT(duration_ns), 0, FOR_LIVE, "TIME",
      "stop after TIME: 10s, 500ms, 2m (default: when the process ends, or Ctrl-C)" },
    { NULL, "max-delay", 0, TYPE_TIME, AT(max_delay_ns), 0, FOR_LIVE | FOR_SERVICE, "TIME",
      "how long a stalled source may hold the stream back (default: 250ms)" },
    { NULL, "kernel-buffer", 0, TYPE_SIZE, AT(kernel_buffer_bytes), 0, FOR_LIVE | FOR_SERVICE,
      "SIZE",
      "the kernel's ring buffer of each CPU: 8M, 512K (default: what the CPUs share is a\n"
      "1024th of the memory, each has from 4M to 64M)" },
    { NULL, "clr-buffer", 0, TYPE_BUFFER, AT(clr_buffer), 0, FOR_LIVE, "SIZE/SIZE",
      "memory for events inside the traced process: of all its threads together, and of the\n"
      "busiest at most, a power of two (default: 8M/1M; 8M alone: an eighth for one)" },
    { NULL, "config", 'c', TYPE_TEXT, AT(config_path), 0, FOR_SERVICE, "FILE",
      "configuration of the service, JSON (default: /etc/tracerd.json if it is there)" },
    { "Other", "help", 'h', TYPE_COMMAND, COMMAND_HELP, 0, FOR_ALL, NULL, "this text" },
    { NULL, "version", 0, TYPE_COMMAND, COMMAND_VERSION, 0, FOR_ALL, NULL, "the version" },
};

#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

static int set_categories(uint32_t *mask, const char *list)
{
    const char *bad;
    size_t bad_size;

    if (option_categories(list, mask, &bad, &bad_size))
        return 0;
    log_error("--clr: there is no category \"%.*s\"; known are " OPTION_CATEGORIES, (int)bad_size,
              bad);
    return EXIT_USAGE;
}

static int set_list(struct options *options, const struct option_row *row, const char *value)
{
    const char **list = (const char **)((char *)options + row->offset);
    size_t *count = (size_t *)((char *)options + row->count_offset);

    if (*count == OPTIONS_LIST_MAX) {
        log_error("--%s: given more than %d times", row->name, OPTIONS_LIST_MAX);
        return EXIT_USAGE;
    }
    if (row->offset == AT(events) && !option_is_event(value)) {
        log_error("--event: \"%s\" is not of the form SYSTEM:EVENT, as in sched:sched_switch or "
                  "'irq:*'",
                  value);
        return EXIT_USAGE;
    }
    if (row->offset == AT(providers) && !option_is_provider(value)) {
        log_error("--provider: \"%s\" is not of the form NAME[:KEYWORDS[:LEVEL]], as in "
                  "System.Net.Http or My-Source:3f:4",
                  value);
        return EXIT_USAGE;
    }
    list[(*count)++] = value;
    return 0;
}

static int bad_value(const struct option_row *row, const char *value)
{
    log_error("--%s: \"%s\" is not %s", row->name, value,
              row->type == TYPE_TIME       ? "a time like 10s, 500ms or 2m"
              : row->type == TYPE_SIZE     ? "a size like 4M or 512K"
              : row->type == TYPE_ROTATION ? "a size like 256M or a time like 10m"
              : row->type == TYPE_BUFFER   ? TRD_BUFFER_HINT
                                           : "a process id");
    return EXIT_USAGE;
}

static int set_option(struct options *options, const struct option_row *row, const char *value)
{
    void *member = (char *)options + row->offset;
    uint64_t number;

    switch (row->type) {
    case TYPE_FLAG:
        *(bool *)member = true;
        return 0;
    case TYPE_COUNTER:
        ++*(int *)member;
        return 0;
    case TYPE_TEXT:
        *(const char **)member = value;
        return 0;
    case TYPE_LIST:
        return set_list(options, row, value);
    case TYPE_CATEGORIES:
        return set_categories(member, value);
    case TYPE_COMMAND:
        options->command = (enum command)row->offset;
        return 0;
    case TYPE_PID:
        if (!option_number(value, &number) || number > INT_MAX)
            return bad_value(row, value);
        *(pid_t *)member = (pid_t)number;
        if (options->command == COMMAND_SERVICE)
            options->command = COMMAND_ATTACH;
        return 0;
    case TYPE_TIME:
        return option_time(value, member) ? 0 : bad_value(row, value);
    case TYPE_SIZE:
        return option_size(value, member) ? 0 : bad_value(row, value);
    case TYPE_ROTATION:
        return option_rotation(value, &options->rotate_bytes, &options->rotate_ns)
                   ? 0
                   : bad_value(row, value);
    case TYPE_BUFFER:
        return trd_buffer_parse(value, member) == 0 ? 0 : bad_value(row, value);
    }
    return EXIT_USAGE;
}

static const struct option_row *find_long(const char *name, size_t length)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (strlen(rows[i].name) == length && memcmp(rows[i].name, name, length) == 0)
            return &rows[i];
    return NULL;
}

static const struct option_row *find_short(char letter)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (rows[i].letter == letter)
            return &rows[i];
    return NULL;
}

static int unknown(const char *argument)
{
    log_error("there is no option \"%s\"; tracerd --help lists them", argument);
    return EXIT_USAGE;
}

/* One argument that starts with a dash; *index moves over a value that stands alone. */
static int parse_option(struct options *options, char **argv, int argc, int *index, uint64_t *given)
{
    const char *argument = argv[*index];
    const char *name = argument + 1 + (argument[1] == '-');
    size_t length = strcspn(name, "=");
    const char *value = name[length] == '=' ? name + length + 1 : NULL;
    const struct option_row *row =
        argument[1] == '-' ? find_long(name, length) : find_short(argument[1]);

    if (!row || (argument[1] != '-' && !row->value && argument[2]))
        return unknown(argument);
    if (argument[1] != '-')
        value = argument[2] ? argument + 2 : NULL;
    if (!row->value && value) {
        log_error("--%s takes no value", row->name);
        return EXIT_USAGE;
    }
    if (row->value && !value) {
        if (*index + 1 >= argc) {
            log_error("--%s needs a value: %s", row->name, row->value);
            return EXIT_USAGE;
        }
        value = argv[++*index];
    }
    *given |= UINT64_C(1) << (row - rows);
    return set_option(options, row, value);
}

static int parse_command(struct options *options, const char *word)
{
    static const struct {
        const char *word;
        enum command command;
        bool needs_output;
    } words[] = { { "run", COMMAND_RUN, false },
                  { "replay", COMMAND_REPLAY, false },
                  { "convert", COMMAND_REPLAY, true }, /* a replay that goes to files */
                  { "doctor", COMMAND_DOCTOR, false },
                  { "trigger", COMMAND_TRIGGER, false } };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(word, words[i].word) == 0) {
            options->command = words[i].command;
            options->needs_output = words[i].needs_output;
            return 0;
        }
    log_error(
        "there is no command \"%s\"; run, replay, convert, doctor and trigger are known, --pid PID attaches",
        word);
    return EXIT_USAGE;
}

static int check_providers(const struct options *options)
{
    char list[TRD_PROVIDERS_SIZE_MAX + 1];

    if (options->provider_count > 0 && options->no_clr) {
        log_error("--provider with --no-clr leaves nobody to listen to it");
        return EXIT_USAGE;
    }
    if (!option_join_providers(options->providers, options->provider_count, list)) {
        log_error("--provider: more than %d providers, or %d characters in all, are too many",
                  TRD_PROVIDERS_MAX, TRD_PROVIDERS_SIZE_MAX);
        return EXIT_USAGE;
    }
    return 0;
}

static int check_methods(const struct options *options)
{
    if (options->command == COMMAND_ATTACH &&
        (options->method_count > 0 || options->clr_categories & OPTIONS_FROM_THE_START)) {
        log_error("methods and transitions can be traced from the start of a process only: use "
                  "tracerd run instead of --pid");
        return EXIT_USAGE;
    }
    if (options->command == COMMAND_RUN && options->method_count == 0 &&
        options->clr_categories & TRD_CATEGORY_BIT(METHOD)) {
        log_error("--clr method needs --methods PATTERN, which says of which methods");
        return EXIT_USAGE;
    }
    if (options->call_values && options->method_count == 0) {
        log_error("--arguments needs --methods PATTERN, which says of which methods");
        return EXIT_USAGE;
    }
    if (options->method_count > 0 && options->no_clr) {
        log_error("--methods with --no-clr leaves nobody to trace them");
        return EXIT_USAGE;
    }
    return 0;
}

/* Also of the service, once its file was read. */
int options_check_rotation(struct options *options)
{
    if (options->keep_bytes > 0 && options->rotate_bytes == 0)
        options->rotate_bytes = options->keep_bytes / 4;
    if (options->keep_bytes / 2 < options->rotate_bytes && options->keep_bytes > 0) {
        log_error("--keep has to be twice the size of --rotate at least: one file to write, and "
                  "one that may be deleted");
        return EXIT_USAGE;
    }
    return 0;
}

static int check(const struct options *options, uint64_t given)
{
    static const char *const names[] = { "the service", "--pid",  "run",
                                         "replay",      "doctor", "trigger" };

    if (options->command == COMMAND_HELP || options->command == COMMAND_VERSION)
        return 0;
    for (size_t i = 0; i < ROW_COUNT; i++)
        if ((given & UINT64_C(1) << i) && !(rows[i].commands & 1u << options->command)) {
            log_error("--%s has no meaning for %s", rows[i].name, names[options->command]);
            return EXIT_USAGE;
        }
    if (options->command == COMMAND_RUN && options->argument_count == 0) {
        log_error("run needs a command: tracerd run [options] -- CMD ARGS…");
        return EXIT_USAGE;
    }
    if (options->command == COMMAND_REPLAY && options->argument_count == 0) {
        log_error("replay needs a file: tracerd replay [options] FILE…");
        return EXIT_USAGE;
    }
    if (options->needs_output && options->output_count == 0) {
        log_error("convert needs to be told where to: tracerd convert FILE… -o OUT");
        return EXIT_USAGE;
    }
    if (options->no_kernel && options->no_clr) {
        log_error("--no-kernel with --no-clr leaves nothing to trace");
        return EXIT_USAGE;
    }
    if (options->compress && strcmp(options->compress, "zstd") != 0) {
        log_error("--compress: \"%s\" is not zstd, the one that there is", options->compress);
        return EXIT_USAGE;
    }
    if (options->stamp && strcmp(options->stamp, "tsc") != 0 &&
        strcmp(options->stamp, "monotonic") != 0) {
        log_error("--stamp: \"%s\" is neither monotonic nor tsc", options->stamp);
        return EXIT_USAGE;
    }
    if (options->clock && output_clock_find(options->clock) == OUTPUT_CLOCK_AS_IS) {
        log_error("--clock: \"%s\" is neither mono, realtime nor boot", options->clock);
        return EXIT_USAGE;
    }
    return check_methods(options);
}

/* Words [from, to) are files or the command: gathered at the front of argv. */
static int take_words(struct options *options, char **argv, int from, int to)
{
    if (from < to && options->command != COMMAND_RUN && options->command != COMMAND_REPLAY) {
        log_error("\"%s\" is not expected here; tracerd --help shows the form", argv[from]);
        return EXIT_USAGE;
    }
    while (from < to)
        options->arguments[options->argument_count++] = argv[from++];
    return 0;
}

/* Files may stand between options; the command that is run ends them. */
static int parse_arguments(struct options *options, int argc, char **argv, int first,
                           uint64_t *given)
{
    int result = 0;

    options->arguments = argv + first;
    for (int i = first; i < argc && result == 0; i++) {
        if (strcmp(argv[i], "--") == 0)
            return take_words(options, argv, i + 1, argc);
        if (argv[i][0] == '-' && argv[i][1] != '\0')
            result = parse_option(options, argv, argc, &i, given);
        else if (options->command == COMMAND_RUN)
            return take_words(options, argv, i, argc);
        else
            result = take_words(options, argv, i, i + 1);
    }
    return result;
}

int options_parse(struct options *options, int argc, char **argv)
{
    uint64_t given = 0;
    int first = 1;
    int result = 0;

    *options = (struct options){ .clr_categories = TRD_CATEGORIES_DEFAULT,
                                 .max_delay_ns = MAX_DELAY_DEFAULT_NS,
                                 .clients_max = CLIENTS_MAX_DEFAULT,
                                 .flight_bytes = FLIGHT_BYTES_DEFAULT,
                                 .after_ns = FLIGHT_AFTER_DEFAULT_NS,
                                 .flight_every_ns = FLIGHT_EVERY_DEFAULT_NS };
    if (argc > 1 && argv[1][0] != '-') {
        result = parse_command(options, argv[1]);
        first = 2;
    }
    /* What a file holds was asked for once already. */
    if (options->command == COMMAND_REPLAY)
        options->clr_categories = TRD_CATEGORIES_ALL;
    if (result == 0)
        result = parse_arguments(options, argc, argv, first, &given);
    if (result == 0)
        options->arguments[options->argument_count] = NULL;
    result = result ? result : check(options, given);
    result = result ? result : check_providers(options);
    result = result ? result : options_check_rotation(options);
    result = result ? result : options_check_flight(options);
    if (options->method_count > 0)
        options->clr_categories |= TRD_CATEGORY_BIT(METHOD);
    if (options->provider_count > 0)
        options->clr_categories |= TRD_CATEGORY_BIT(PROVIDER);
    return result;
}

#define HELP_COLUMN 29

/* A text of several lines continues below its beginning. */
static void print_row(const struct option_row *row)
{
    char left[64];

    (void)snprintf(left, sizeof(left), "%c%c%s --%s%s%s", row->letter ? '-' : ' ',
                   row->letter ? row->letter : ' ', row->letter ? "," : " ", row->name,
                   row->value ? " " : "", row->value ? row->value : "");
    if (row->group)
        printf("\n%s\n", row->group);
    printf("  %-*s", HELP_COLUMN - 2, left);
    for (const char *line = row->help; line;) {
        const char *end = strchrnul(line, '\n');

        printf("%*s%.*s\n", line == row->help ? 0 : HELP_COLUMN, "", (int)(end - line), line);
        line = *end ? end + 1 : NULL;
    }
}

void options_print_help(void)
{
    printf(
        "Puts what the CLR did and what the kernel did to it on one timeline.\n\n"
        "tracerd run [options] -- CMD ARGS…   start CMD and trace it\n"
        "tracerd --pid PID [options]          attach to a running .NET process\n"
        "tracerd replay [options] FILE…       trace.dat files and own recordings, merged\n"
        "tracerd convert [options] FILE… -o OUT   the same, into files\n"
        "tracerd doctor [--pid PID]           what works here, step by step, and what to do about the rest\n"
        "tracerd trigger [--pid PID]          fires the flight recorder of PID, or all there are\n"
        "tracerd [-c FILE]                    the service: profilers and consumers on sockets\n");
    for (size_t i = 0; i < ROW_COUNT; i++)
        print_row(&rows[i]);
    printf("\nExit status: 0 complete (run: the command's own), 2 usage, 3 nothing could be read,\n"
           "4 partial: something was damaged or lost, told on standard error.\n");
}

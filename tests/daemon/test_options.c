#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "capture.h"
#include "event.h"
#include "options.h"

#define ARGUMENTS_MAX 80

/* A list of words into options; what was said on standard error goes to *out_text, allocated. */
static int parse_words(struct options *options, char **out_text, char **words, int count)
{
    static char *argv[ARGUMENTS_MAX + 2];
    struct capture capture;
    int result;

    argv[0] = "tracerd";
    memcpy(argv + 1, words, (size_t)count * sizeof(words[0]));
    argv[count + 1] = NULL;
    capture_begin(&capture, STDERR_FILENO);
    result = options_parse(options, count + 1, argv);
    *out_text = capture_end(&capture);
    return result;
}

#define WORDS(...) ((char *[]){ __VA_ARGS__ }), sizeof((char *[]){ __VA_ARGS__ }) / sizeof(char *)

static void accepts(struct options *options, char **words, size_t count)
{
    char *text;
    int result = parse_words(options, &text, words, (int)count);

    if (result != 0 || *text)
        fail_msg("refused: %s", text);
    free(text);
}

/* Exit code 2 and one sentence that holds `hint`. */
static void refuses(const char *hint, char **words, size_t count)
{
    struct options options;
    char *text;

    assert_int_equal(parse_words(&options, &text, words, (int)count), EXIT_USAGE);
    assert_int_equal(capture_lines(text), 1);
    if (!strstr(text, hint))
        fail_msg("\"%s\" does not tell \"%s\"", text, hint);
    free(text);
}

/* The help is made from the table: each of its rows is tried. */
struct help_row {
    char letter;
    char name[32];
    char value[32];
};

static size_t read_help(struct help_row *rows, size_t capacity)
{
    struct capture capture;
    char *text, *place = NULL;
    size_t count = 0;

    capture_begin(&capture, STDOUT_FILENO);
    options_print_help();
    text = capture_end(&capture);
    for (char *line = strtok_r(text, "\n", &place); line; line = strtok_r(NULL, "\n", &place)) {
        struct help_row row = { 0 };
        char *name = strstr(line, " --");

        if (strncmp(line, "  ", 2) != 0 || !name || name > line + 6)
            continue;
        if (line[2] == '-')
            row.letter = line[3];
        assert_true(sscanf(name, " --%31[a-z-] %31[A-Z:/]", row.name, row.value) >= 1);
        assert_true(count < capacity);
        rows[count++] = row;
    }
    free(text);
    return count;
}

static char *value_for(const char *kind)
{
    static const struct {
        const char *kind;
        char *value;
    } values[] = { { "FILE", "file" },      { "TIME", "10s" },       { "SIZE", "4M" },
                   { "PID", "17" },         { "LIST", "gc" },        { "SYSTEM:EVENT", "sched:*" },
                   { "EXPR", "pid == 1" },  { "PATTERN", "A.*" },    { "CLOCK", "tsc" },
                   { "PROVIDER", "A:1:4" }, { "LIMIT", "10m" },      { "NAME", "boot" },
                   { "CODEC", "zstd" },     { "SIZE/SIZE", "8M/1M" } };

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        if (strcmp(values[i].kind, kind) == 0)
            return values[i].value;
    return NULL;
}

/* Some command must know it; the spellings must mean the same. */
static bool try_spelling(const struct help_row *row, bool is_short, bool joined, char *command,
                         struct options *out)
{
    static char first[64];
    char *value = *row->value ? value_for(row->value) : NULL;
    char *words[6];
    int count = 0;
    char *text;
    int result;

    if (is_short)
        (void)snprintf(first, sizeof(first), "-%c%s", row->letter, joined && value ? value : "");
    else
        (void)snprintf(first, sizeof(first), "--%s%s%s", row->name, joined && value ? "=" : "",
                       joined && value ? value : "");
    if (command)
        words[count++] = command;
    if (strcmp(row->name, "arguments") == 0) /* it says something about the other */
        words[count++] = "--methods=A.*";
    words[count++] = first;
    if (value && !joined)
        words[count++] = value;
    if (command && strcmp(command, "doctor") != 0 && strcmp(command, "trigger") != 0)
        words[count++] = "word";
    result = parse_words(out, &text, words, count);
    free(text);
    return result == 0;
}

static void test_help_each_row_is_accepted_in_every_spelling(void **state)
{
    static char *commands[] = { NULL, "run", "replay", "doctor", "trigger" };
    struct help_row rows[64];
    size_t count = read_help(rows, 64);

    (void)state;
    assert_true(count > 10);
    for (size_t i = 0; i < count; i++) {
        unsigned accepted = 0;

        for (size_t c = 0; c < sizeof(commands) / sizeof(commands[0]); c++) {
            struct options plain, other;

            if (!try_spelling(&rows[i], false, false, commands[c], &plain))
                continue;
            accepted++;
            assert_true(try_spelling(&rows[i], false, true, commands[c], &other));
            assert_int_equal(plain.command, other.command);
            if (!rows[i].letter)
                continue;
            assert_true(try_spelling(&rows[i], true, false, commands[c], &other));
            assert_int_equal(plain.command, other.command);
            assert_true(try_spelling(&rows[i], true, true, commands[c], &other));
            assert_int_equal(plain.event_count, other.event_count);
            assert_int_equal(plain.output_count, other.output_count);
            assert_int_equal(plain.quiet, other.quiet);
            assert_int_equal(plain.verbose, other.verbose);
        }
        if (accepted == 0)
            fail_msg("--%s is in the help and in no command", rows[i].name);
    }
}

static void test_options_each_lands_in_its_member(void **state)
{
    struct options o;

    (void)state;
    accepts(&o,
            WORDS("run", "-o", "a", "--output=b", "-e", "sched:*", "-eirq:*", "--clr", "gc,thread",
                  "--no-kernel", "--duration", "1500ms", "--max-delay=1s", "--kernel-buffer",
                  "512K", "--summary", "-v", "-v", "--methods", "A.*,!A.b", "--methods=B.*",
                  "--provider", "A:3f:4", "--provider=B", "--filter", "pid == 1", "--rotate",
                  "256M", "--rotate=10m", "--keep", "1G", "--", "app", "-o"));
    assert_int_equal(o.command, COMMAND_RUN);
    assert_int_equal(o.output_count, 2);
    assert_string_equal(o.outputs[0], "a");
    assert_string_equal(o.outputs[1], "b");
    assert_int_equal(o.event_count, 2);
    assert_string_equal(o.events[1], "irq:*");
    assert_int_equal(o.clr_categories, TRD_CATEGORY_BIT(RUNTIME) | TRD_CATEGORY_BIT(GC) |
                                           TRD_CATEGORY_BIT(THREAD) | TRD_CATEGORY_BIT(METHOD) |
                                           TRD_CATEGORY_BIT(PROVIDER));
    assert_int_equal(o.provider_count, 2);
    assert_string_equal(o.providers[0], "A:3f:4");
    assert_int_equal(o.method_count, 2);
    assert_string_equal(o.methods[0], "A.*,!A.b");
    assert_true(o.no_kernel && !o.no_clr && o.summary && !o.quiet);
    assert_int_equal(o.verbose, 2);
    assert_string_equal(o.filter, "pid == 1");
    assert_int_equal(o.duration_ns, 1500000000);
    assert_int_equal(o.max_delay_ns, 1000000000);
    assert_int_equal(o.kernel_buffer_bytes, 512 * 1024);
    assert_int_equal(o.rotate_bytes, 256 << 20);
    assert_int_equal(o.rotate_ns, UINT64_C(600000000000));
    assert_int_equal(o.keep_bytes, 1 << 30);
    assert_int_equal(o.argument_count, 2);
    assert_string_equal(o.arguments[0], "app");
    assert_string_equal(o.arguments[1], "-o");
}

static void test_run_first_word_ends_the_options(void **state)
{
    struct options o;

    (void)state;
    accepts(&o, WORDS("run", "-q", "app", "--summary"));
    assert_true(o.quiet && !o.summary);
    assert_int_equal(o.argument_count, 2);
    assert_string_equal(o.arguments[1], "--summary");
}

static void test_replay_files_stand_between_options(void **state)
{
    struct options o;

    (void)state;
    accepts(&o, WORDS("replay", "a.dat", "--summary", "b.ndjson", "-o", "c", "--", "-d"));
    assert_true(o.summary);
    assert_int_equal(o.argument_count, 3);
    assert_string_equal(o.arguments[0], "a.dat");
    assert_string_equal(o.arguments[1], "b.ndjson");
    assert_string_equal(o.arguments[2], "-d");
}

static void test_doctor_takes_a_pid_and_nothing_of_streams(void **state)
{
    struct options o;

    (void)state;
    accepts(&o, WORDS("doctor"));
    assert_int_equal(o.command, COMMAND_DOCTOR);
    assert_int_equal(o.pid, 0);
    accepts(&o, WORDS("doctor", "--pid", "42", "--json", "--no-kernel"));
    assert_int_equal(o.command, COMMAND_DOCTOR);
    assert_int_equal(o.pid, 42);
    assert_true(o.json);
    refuses("no meaning for doctor", WORDS("doctor", "-o", "x"));
    refuses("not expected", WORDS("doctor", "42"));
    refuses("no meaning for run", WORDS("run", "--pid", "42", "--", "app"));
}

static void test_no_command_is_the_service_and_a_pid_attaches(void **state)
{
    struct options o;

    (void)state;
    accepts(&o, WORDS("-q"));
    assert_int_equal(o.command, COMMAND_SERVICE);
    accepts(&o, WORDS("--pid", "42", "-o", "x"));
    assert_int_equal(o.command, COMMAND_ATTACH);
    assert_int_equal(o.pid, 42);
}

static void test_wrong_words_are_refused_with_one_sentence(void **state)
{
    (void)state;
    refuses("--nope", WORDS("--nope"));
    refuses("-x", WORDS("-x"));
    refuses("-qx", WORDS("-qx"));
    refuses("needs a value", WORDS("run", "-o"));
    refuses("takes no value", WORDS("replay", "--summary=1", "f"));
    refuses("no command \"frobnicate\"", WORDS("frobnicate"));
    refuses("needs a command", WORDS("run"));
    refuses("needs a command", WORDS("run", "--"));
    refuses("needs a file", WORDS("replay", "--summary"));
    refuses("not expected", WORDS("--pid", "1", "word"));
    refuses("no meaning", WORDS("replay", "--duration", "1s", "f"));
    refuses("no meaning", WORDS("run", "-c", "f", "app"));
    refuses("no meaning", WORDS("-o", "f"));
    refuses("neither monotonic nor tsc", WORDS("run", "--stamp", "hpet", "app"));
    refuses("tracerd run", WORDS("--pid", "1", "--methods", "A.*"));
    refuses("tracerd run", WORDS("--pid", "1", "--clr", "transition"));
    refuses("needs --methods", WORDS("run", "--clr", "method", "app"));
    refuses("NAME[:KEYWORDS[:LEVEL]]", WORDS("run", "--provider", "A:xyz", "app"));
    refuses("NAME[:KEYWORDS[:LEVEL]]", WORDS("run", "--provider", "A,B", "app"));
    refuses("nobody to listen", WORDS("run", "--provider", "A", "--no-clr", "app"));
    refuses("nobody to trace", WORDS("run", "--methods", "A.*", "--no-clr", "app"));
    refuses("nothing to trace", WORDS("replay", "--no-clr", "--no-kernel", "f"));
}

static void test_wrong_values_are_refused_with_what_is_right(void **state)
{
    static char *const times[] = { "", "10", "s", "0s", "-1s", "1d", "1 s", "99999999999999999h" };
    static char *const sizes[] = { "", "M", "0", "4m", "4MB", "-4M", "99999999999G" };
    static char *const pids[] = { "", "0", "x", "-1", "1K", "4294967296" };
    static char *const globs[] = { "sched", ":", "sched:", ":x", "a:b:c" };
    static char *const lists[] = { "", "gx", "gc,", ",gc", "gc,,jit", "GC" };

    (void)state;
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        refuses("10s", WORDS("run", "--duration", times[i], "app"));
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        refuses("4M", WORDS("run", "--kernel-buffer", sizes[i], "app"));
    for (size_t i = 0; i < sizeof(pids) / sizeof(pids[0]); i++)
        refuses("process id", WORDS("--pid", pids[i]));
    for (size_t i = 0; i < sizeof(globs) / sizeof(globs[0]); i++)
        refuses("SYSTEM:EVENT", WORDS("replay", "-e", globs[i], "f"));
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        refuses("default, thread, loader, jit, gc, exception",
                WORDS("run", "--clr", lists[i], "app"));
}

static void test_a_list_that_is_too_long_is_refused(void **state)
{
    char *words[OPTIONS_LIST_MAX + 3] = { "replay" };

    (void)state;
    for (int i = 0; i <= OPTIONS_LIST_MAX; i++)
        words[i + 1] = "-esched:*";
    words[OPTIONS_LIST_MAX + 2] = "f";
    refuses("more than 64 times", words, OPTIONS_LIST_MAX + 3);
}

/* The list in messages and help is what the schema has, RUNTIME excepted, which is always on. */
static void test_categories_named_in_messages_are_those_of_the_schema(void **state)
{
    char list[256] = "";

    (void)state;
    for (int i = TRD_CATEGORY_RUNTIME + 1; i < TRD_CATEGORY_COUNT; i++) {
        const char *name = trd_category_name((enum trd_category)i);

        if (name)
            strcat(strcat(list, *list ? ", " : ""), name);
    }
    refuses(list, WORDS("run", "--clr", "nope", "app"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_help_each_row_is_accepted_in_every_spelling),
        cmocka_unit_test(test_options_each_lands_in_its_member),
        cmocka_unit_test(test_run_first_word_ends_the_options),
        cmocka_unit_test(test_replay_files_stand_between_options),
        cmocka_unit_test(test_doctor_takes_a_pid_and_nothing_of_streams),
        cmocka_unit_test(test_no_command_is_the_service_and_a_pid_attaches),
        cmocka_unit_test(test_wrong_words_are_refused_with_one_sentence),
        cmocka_unit_test(test_wrong_values_are_refused_with_what_is_right),
        cmocka_unit_test(test_a_list_that_is_too_long_is_refused),
        cmocka_unit_test(test_categories_named_in_messages_are_those_of_the_schema),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

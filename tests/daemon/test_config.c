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
#include "config.h"
#include "event.h"

/* Loads `text` as a file; the sentence on standard error goes to *out_said, allocated. */
static int load(struct config **out, struct options *options, const char *text, char **out_said)
{
    static char path[64];
    struct capture capture;
    int fd, result;

    strcpy(path, "/tmp/tracerd-test-config-XXXXXX");
    fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    options->config_path = path;
    capture_begin(&capture, STDERR_FILENO);
    result = config_load(out, options);
    *out_said = capture_end(&capture);
    unlink(path);
    return result;
}

static void test_each_key_lands_in_its_option(void **state)
{
    struct options options = { .clr_categories = TRD_CATEGORIES_ALL };
    struct config *config;
    char *said;

    (void)state;
    assert_int_equal(load(&config, &options,
                          "{\"runtime_dir\": \"/run/x\", \"events\": [\"irq:*\", \"sched:*\"],"
                          " \"clr\": [\"gc\"], \"kernel\": false, \"kernel_buffer\": \"8M\","
                          " \"clients_max\": 5, \"output\": [\"/a.ndjson\", \"/b.ndjson.zst\"],"
                          " \"rotate\": [\"1M\", \"10m\"], \"keep\": \"8M\"}",
                          &said),
                     0);
    assert_string_equal(said, "");
    assert_string_equal(options.runtime_dir, "/run/x");
    assert_int_equal(options.event_count, 2);
    assert_string_equal(options.events[1], "sched:*");
    assert_int_equal(options.clr_categories, TRD_CATEGORY_BIT(RUNTIME) | TRD_CATEGORY_BIT(GC));
    assert_true(options.no_kernel && !options.no_clr);
    assert_int_equal(options.kernel_buffer_bytes, 8 << 20);
    assert_int_equal(options.clients_max, 5);
    assert_int_equal(options.output_count, 2);
    assert_string_equal(options.outputs[1], "/b.ndjson.zst");
    assert_int_equal(options.rotate_bytes, 1 << 20);
    assert_int_equal(options.rotate_ns, UINT64_C(600000000000));
    assert_int_equal(options.keep_bytes, 8 << 20);
    config_destroy(config);
    free(said);
}

static void test_providers_are_listened_to_whatever_the_order_of_the_keys(void **state)
{
    static const char *const texts[] = {
        "{\"providers\": [\"System.Net.Http\", \"My-Source:3f:4\"], \"clr\": [\"gc\"]}",
        "{\"clr\": [\"gc\"], \"providers\": [\"System.Net.Http\", \"My-Source:3f:4\"]}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct options options = { 0 };
        struct config *config;
        char *said;

        assert_int_equal(load(&config, &options, texts[i], &said), 0);
        assert_int_equal(options.provider_count, 2);
        assert_string_equal(options.providers[1], "My-Source:3f:4");
        assert_int_equal(options.clr_categories, TRD_CATEGORY_BIT(RUNTIME) | TRD_CATEGORY_BIT(GC) |
                                                     TRD_CATEGORY_BIT(PROVIDER));
        config_destroy(config);
        free(said);
    }
}

static void test_empty_object_changes_nothing(void **state)
{
    struct options options = { .clr_categories = TRD_CATEGORIES_ALL, .clients_max = 9 };
    struct config *config;
    char *said;

    (void)state;
    assert_int_equal(load(&config, &options, "{}", &said), 0);
    assert_int_equal(options.clr_categories, TRD_CATEGORIES_ALL);
    assert_int_equal(options.clients_max, 9);
    assert_null(options.runtime_dir);
    config_destroy(config);
    free(said);
}

static void test_command_line_goes_before_the_file(void **state)
{
    struct options options = { .kernel_buffer_bytes = 4096, .no_kernel = true };
    struct config *config;
    char *said;

    (void)state;
    assert_int_equal(
        load(&config, &options, "{\"kernel_buffer\": \"8M\", \"kernel\": true}", &said), 0);
    assert_int_equal(options.kernel_buffer_bytes, 4096);
    assert_true(options.no_kernel);
    config_destroy(config);
    free(said);
}

static void test_no_category_at_all_switches_the_clr_off(void **state)
{
    struct options options = { 0 };
    struct config *config;
    char *said;

    (void)state;
    assert_int_equal(load(&config, &options, "{\"clr\": []}", &said), 0);
    assert_true(options.no_clr);
    config_destroy(config);
    free(said);
}

static void test_wrong_files_are_refused_with_one_sentence(void **state)
{
    static const struct {
        const char *text;
        const char *hint;
    } cases[] = {
        { "", "line" },
        { "{\"clr\":", "line" },
        { "[]", "object" },
        { "{\"kernel\": true, \"kernel\": false}", "line" },
        { "{\"evnets\": []}", "no key \"evnets\"" },
        { "{\"http\": {}}", "clients_max" }, /* the keys there are */
        { "{\"runtime_dir\": 1}", "absolute path" },
        { "{\"runtime_dir\": \"run\"}", "absolute path" },
        { "{\"events\": \"sched:*\"}", "globs" },
        { "{\"events\": [\"sched\"]}", "globs" },
        { "{\"events\": [1]}", "globs" },
        { "{\"events\": []}", "\"kernel\": false" },
        { "{\"clr\": \"gc\"}", "list" },
        { "{\"clr\": [\"gx\"]}", "thread, loader, jit, gc, exception" },
        { "{\"clr\": [\"gc\\u0000x\"]}", "line" },
        { "{\"providers\": \"System.Net.Http\"}", "list of EventSources" },
        { "{\"providers\": [1]}", "NAME[:KEYWORDS[:LEVEL]]" },
        { "{\"providers\": [\"A:xyz\"]}", "NAME[:KEYWORDS[:LEVEL]]" },
        { "{\"providers\": [\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\",\"10\",\"11\",\"12\","
          "\"13\",\"14\",\"15\",\"16\",\"17\"]}",
          "at most 16" },
        { "{\"providers\": [\"A\"], \"clr\": []}", "absent where" },
        { "{\"kernel\": 1}", "true or false" },
        { "{\"kernel_buffer\": 4096}", "size" },
        { "{\"kernel_buffer\": \"4Q\"}", "size" },
        { "{\"clients_max\": 0}", "1 to 1024" },
        { "{\"clients_max\": 1025}", "1 to 1024" },
        { "{\"clients_max\": \"5\"}", "1 to 1024" },
        { "{\"output\": \"a.ndjson\"}", "absolute path" },
        { "{\"output\": [1]}", "absolute paths" },
        { "{\"rotate\": 5}", "size" },
        { "{\"rotate\": [\"5x\"]}", "size" },
        { "{\"keep\": \"5x\"}", "size" },
        { "{\"rotate\": \"2M\", \"keep\": \"3M\"}", "twice" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct options options = { 0 };
        struct config *config = NULL;
        char *said;

        if (load(&config, &options, cases[i].text, &said) != EXIT_USAGE)
            fail_msg("accepted: %s", cases[i].text);
        assert_int_equal(capture_lines(said), 1);
        if (!strstr(said, cases[i].hint))
            fail_msg("%s: \"%s\" does not tell \"%s\"", cases[i].text, said, cases[i].hint);
        config_destroy(config);
        free(said);
    }
}

static void test_missing_file_that_was_named_is_an_error(void **state)
{
    struct options options = { .config_path = "/nonexistent/tracerd.json" };
    struct config *config = NULL;
    struct capture capture;
    char *said;

    (void)state;
    capture_begin(&capture, STDERR_FILENO);
    assert_int_equal(config_load(&config, &options), EXIT_USAGE);
    said = capture_end(&capture);
    assert_int_equal(capture_lines(said), 1);
    config_destroy(config);
    free(said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_key_lands_in_its_option),
        cmocka_unit_test(test_providers_are_listened_to_whatever_the_order_of_the_keys),
        cmocka_unit_test(test_empty_object_changes_nothing),
        cmocka_unit_test(test_command_line_goes_before_the_file),
        cmocka_unit_test(test_no_category_at_all_switches_the_clr_off),
        cmocka_unit_test(test_wrong_files_are_refused_with_one_sentence),
        cmocka_unit_test(test_missing_file_that_was_named_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

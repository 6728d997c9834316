/* The map of code against a list that is searched from end to end, and the few stories by hand. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tracerd/codemap.h"

#define PLENTY 100000

static struct trd_code run(uint64_t method, uint64_t address, uint64_t size, uint64_t from_ns)
{
    return (
        struct trd_code){ .method = method, .address = address, .size = size, .from_ns = from_ns };
}

static void add(struct trd_codemap *map, uint64_t method, uint64_t address, uint64_t size,
                uint64_t from_ns)
{
    struct trd_code code = run(method, address, size, from_ns);

    assert_int_equal(trd_codemap_add(map, &code, from_ns), 0);
}

/* 0 = nobody's */
static uint64_t method_at(const struct trd_codemap *map, uint64_t address, uint64_t ts_ns)
{
    struct trd_code code;

    return trd_codemap_find(map, address, ts_ns, &code) ? code.method : 0;
}

static void test_codemap_run_holds_from_its_first_to_its_last_byte(void **state)
{
    struct trd_codemap *map = *state;
    struct trd_code code;

    add(map, 7, 0x1000, 0x10, 100);
    assert_int_equal(method_at(map, 0xfff, 100), 0);
    assert_true(trd_codemap_find(map, 0x1000, 100, &code));
    assert_int_equal(code.address, 0x1000);
    assert_int_equal(code.until_ns, UINT64_MAX);
    assert_int_equal(method_at(map, 0x100f, UINT64_MAX - 1), 7);
    assert_int_equal(method_at(map, 0x1010, 100), 0);
    assert_int_equal(method_at(map, 0x1000, 99), 0);
}

static void test_codemap_tiered_bodies_both_hold_until_their_method_is_unloaded(void **state)
{
    struct trd_codemap *map = *state;

    add(map, 7, 0x1000, 0x10, 100);
    add(map, 7, 0x2000, 0x20, 200);
    assert_int_equal(method_at(map, 0x1008, 300), 7);
    assert_int_equal(method_at(map, 0x2008, 300), 7);
    trd_codemap_unload_method(map, 7, 400);
    assert_int_equal(method_at(map, 0x1008, 399), 7);
    assert_int_equal(method_at(map, 0x2008, 399), 7);
    assert_int_equal(method_at(map, 0x1008, 400), 0);
    assert_int_equal(method_at(map, 0x2008, 400), 0);
}

static void test_codemap_module_takes_its_methods_along_and_no_others(void **state)
{
    struct trd_codemap *map = *state;

    assert_int_equal(trd_codemap_set_module(map, 7, 70), 0);
    add(map, 7, 0x1000, 0x10, 100);
    add(map, 8, 0x2000, 0x10, 100);
    assert_int_equal(trd_codemap_set_module(map, 8, 70), 0);
    assert_int_equal(trd_codemap_set_module(map, 9, 90), 0);
    add(map, 9, 0x3000, 0x10, 100);
    add(map, 10, 0x4000, 0x10, 100); /* of no module */
    trd_codemap_unload_module(map, 70, 200);
    trd_codemap_unload_module(map, 0, 200);
    assert_int_equal(method_at(map, 0x1000, 200), 0);
    assert_int_equal(method_at(map, 0x2000, 200), 0);
    assert_int_equal(method_at(map, 0x3000, 200), 9);
    assert_int_equal(method_at(map, 0x4000, 200), 10);
}

static void test_codemap_address_used_again_belongs_to_each_in_its_time(void **state)
{
    struct trd_codemap *map = *state;

    add(map, 7, 0x1000, 0x100, 100);
    add(map, 8, 0x1080, 0x100, 200); /* nobody said that 7 was gone */
    assert_int_equal(method_at(map, 0x1090, 199), 7);
    assert_int_equal(method_at(map, 0x1090, 200), 8);
    assert_int_equal(method_at(map, 0x1000, 200), 0);
    trd_codemap_unload_method(map, 7, 300); /* what it had is somebody else's */
    assert_int_equal(method_at(map, 0x1090, 300), 8);
}

static void test_codemap_run_told_again_counts_from_its_earliest_time(void **state)
{
    struct trd_codemap *map = *state;
    struct trd_codemap_counts counts;

    add(map, 7, 0x1000, 0x10, 100);
    add(map, 7, 0x1000, 0x10, 200);
    assert_int_equal(method_at(map, 0x1000, 100), 7);
    add(map, 7, 0x1000, 0x10, 0);
    assert_int_equal(method_at(map, 0x1000, 1), 7);
    trd_codemap_count(map, &counts);
    assert_int_equal(counts.living, 1);
    assert_int_equal(counts.ended, 0);
}

static void test_codemap_run_that_is_none_is_refused(void **state)
{
    struct trd_codemap *map = *state;
    struct trd_code empty = run(7, 0x1000, 0, 1), endless = run(7, UINT64_MAX - 4, 16, 1);

    assert_int_equal(trd_codemap_add(map, &empty, 1), -EINVAL);
    assert_int_equal(trd_codemap_add(map, &endless, 1), -EINVAL);
    assert_int_equal(method_at(map, 0x1000, 1), 0);
}

static void test_codemap_at_its_limit_forgets_the_dead_and_then_refuses(void **state)
{
    struct trd_codemap_counts counts;
    struct trd_codemap *map;
    struct trd_code late;

    (void)state;
    assert_int_equal(trd_codemap_create(&map, 100), 0);
    for (uint64_t i = 0; i < 100; i++)
        add(map, i + 1, 0x1000 + 16 * i, 16, i + 1);
    for (uint64_t i = 0; i < 50; i++)
        trd_codemap_unload_method(map, i + 1, 200);
    late = run(1000, 0x9000, 16, 300);
    assert_int_equal(trd_codemap_add(map, &late, 300), 0);
    trd_codemap_count(map, &counts);
    assert_int_equal(counts.living, 51);
    assert_int_equal(counts.forgotten, 50);
    assert_int_equal(method_at(map, 0x1000, 150), 0);
    for (uint64_t i = 1; i < 50; i++)
        add(map, 1000 + i, 0x9000 + 16 * i, 16, 300);
    late = run(2000, 0xa000, 16, 400);
    assert_int_equal(trd_codemap_add(map, &late, 400), -ENOSPC);
    trd_codemap_count(map, &counts);
    assert_int_equal(counts.living, 100);
    assert_int_equal(counts.refused, 1);
    assert_int_equal(method_at(map, 0x1000 + 16 * 99, 400), 100);
    trd_codemap_destroy(map);
}

/* The naive one: every run that ever was, in the order they came. */

#define MODEL_MAX 20000
#define METHODS 60
#define MODULES 5

struct model {
    struct trd_code runs[MODEL_MAX];
    size_t count;
    uint64_t module_of[METHODS + 1];
};

static void model_add(struct model *model, const struct trd_code *code)
{
    for (size_t i = 0; i < model->count; i++) {
        struct trd_code *other = &model->runs[i];

        if (other->until_ns != UINT64_MAX || other->address >= code->address + code->size ||
            code->address >= other->address + other->size)
            continue;
        if (other->address == code->address && other->size == code->size &&
            other->method == code->method)
            return;
        other->until_ns = code->from_ns;
    }
    assert_true(model->count < MODEL_MAX);
    model->runs[model->count] = *code;
    model->runs[model->count++].until_ns = UINT64_MAX;
}

static void model_unload(struct model *model, uint64_t method, uint64_t ts_ns)
{
    for (size_t i = 0; i < model->count; i++)
        if (model->runs[i].until_ns == UINT64_MAX && model->runs[i].method == method)
            model->runs[i].until_ns = ts_ns;
    model->module_of[method] = 0;
}

static uint64_t model_find(const struct model *model, uint64_t address, uint64_t ts_ns)
{
    const struct trd_code *best = NULL;

    for (size_t i = 0; i < model->count; i++) {
        const struct trd_code *code = &model->runs[i];

        if (address >= code->address && address - code->address < code->size &&
            ts_ns >= code->from_ns && ts_ns < code->until_ns &&
            (!best || code->from_ns > best->from_ns))
            best = code;
    }
    return best ? best->method : 0;
}

static uint64_t random_below(uint64_t limit)
{
    static uint64_t seed = 88172645463325252u;

    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % limit;
}

static void do_something(struct trd_codemap *map, struct model *model, uint64_t ts_ns)
{
    uint64_t method = 1 + random_below(METHODS), module = 1 + random_below(MODULES);
    struct trd_code code =
        run(method, 0x1000 + 8 * random_below(4000), 8 + random_below(64), ts_ns);

    switch (random_below(40)) {
    case 0:
        trd_codemap_unload_method(map, method, ts_ns);
        model_unload(model, method, ts_ns);
        break;
    case 1:
        trd_codemap_unload_module(map, module, ts_ns);
        for (uint64_t i = 1; i <= METHODS; i++)
            if (model->module_of[i] == module)
                model_unload(model, i, ts_ns);
        break;
    case 2:
        assert_int_equal(trd_codemap_set_module(map, method, module), 0);
        model->module_of[method] = module;
        break;
    default:
        assert_int_equal(trd_codemap_add(map, &code, ts_ns), 0);
        model_add(model, &code);
    }
}

static void test_codemap_answers_as_a_search_through_everything(void **state)
{
    struct model *model = calloc(1, sizeof(*model));
    struct trd_codemap *map = *state;
    struct trd_codemap_counts counts;
    unsigned known = 0;

    assert_non_null(model);
    for (uint64_t ts_ns = 1; ts_ns < 10000; ts_ns++) {
        do_something(map, model, ts_ns);
        for (int i = 0; i < 4; i++) {
            uint64_t address = 0xff0 + random_below(0x8100), when = random_below(ts_ns + 2);
            uint64_t method = model_find(model, address, when);

            assert_int_equal(method_at(map, address, when), method);
            known += method != 0;
        }
    }
    trd_codemap_count(map, &counts);
    assert_int_equal(counts.living + counts.ended, model->count);
    assert_int_equal(counts.refused + counts.forgotten, 0);
    assert_true(known > 1000 && known < 39000); /* neither side answers one thing only */
    assert_true(counts.ended > 1000);
    free(model);
}

static int make_map(void **state)
{
    return trd_codemap_create((struct trd_codemap **)state, PLENTY);
}

static int drop_map(void **state)
{
    trd_codemap_destroy(*state);
    return 0;
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, make_map, drop_map)
    const struct CMUnitTest tests[] = {
        CASE(test_codemap_run_holds_from_its_first_to_its_last_byte),
        CASE(test_codemap_tiered_bodies_both_hold_until_their_method_is_unloaded),
        CASE(test_codemap_module_takes_its_methods_along_and_no_others),
        CASE(test_codemap_address_used_again_belongs_to_each_in_its_time),
        CASE(test_codemap_run_told_again_counts_from_its_earliest_time),
        CASE(test_codemap_run_that_is_none_is_refused),
        cmocka_unit_test(test_codemap_at_its_limit_forgets_the_dead_and_then_refuses),
        CASE(test_codemap_answers_as_a_search_through_everything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The map against a plain array that holds the same, under random changes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "idmap.h"

#define KEYS 300
#define ROUNDS 200000

static int destroyed;

static void count_destroyed(void *value)
{
    (void)value;
    destroyed++;
}

static bool keep_even(const struct idmap_entry *entry, void *context)
{
    (void)context;
    return entry->a % 2 == 0;
}

/* Keys that differ in one half or the other, so that both count. */
static uint64_t first(int key)
{
    return (uint64_t)(key / 10);
}

static uint64_t second(int key)
{
    return (uint64_t)(key % 10) << 40;
}

static void check_all(const struct idmap *map, void *const *truth)
{
    size_t count = 0;

    for (int key = 0; key < KEYS; key++) {
        assert_ptr_equal(idmap_get(map, first(key), second(key)), truth[key]);
        count += truth[key] != NULL;
    }
    assert_int_equal(map->count, count);
}

static void test_map_holds_what_a_plain_array_holds(void **state)
{
    static char values[16];
    void *truth[KEYS] = { NULL };
    struct idmap map;

    (void)state;
    srand(5);
    idmap_init(&map, 1000);
    check_all(&map, truth);
    for (int round = 0; round < ROUNDS; round++) {
        int key = rand() % KEYS;
        void *value = &values[rand() % 16], *old = NULL;

        if (rand() % 2) {
            assert_int_equal(idmap_set(&map, first(key), second(key), value, &old), 0);
            assert_ptr_equal(old, truth[key]);
            truth[key] = value;
        } else {
            assert_ptr_equal(idmap_take(&map, first(key), second(key)), truth[key]);
            truth[key] = NULL;
        }
        if (round % 1000 == 0)
            check_all(&map, truth);
        if (round % 50000 == 49999) {
            idmap_filter(&map, keep_even, NULL);
            for (int k = 0; k < KEYS; k++)
                truth[k] = first(k) % 2 == 0 ? truth[k] : NULL;
            check_all(&map, truth);
        }
    }
    check_all(&map, truth);
    idmap_finish(&map, NULL);
}

static void test_map_at_its_limit_replaces_but_takes_nothing_new(void **state)
{
    struct idmap map;
    int value;
    void *old;

    (void)state;
    idmap_init(&map, 3);
    for (uint64_t key = 0; key < 3; key++)
        assert_int_equal(idmap_set(&map, key, 0, &value, &old), 0);
    assert_int_equal(idmap_set(&map, 3, 0, &value, &old), -ENOSPC);
    assert_int_equal(idmap_set(&map, 2, 0, &map, &old), 0);
    assert_ptr_equal(old, &value);
    assert_ptr_equal(idmap_get(&map, 2, 0), &map);
    assert_null(idmap_get(&map, 3, 0));
    idmap_finish(&map, count_destroyed);
    assert_int_equal(destroyed, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map_holds_what_a_plain_array_holds),
        cmocka_unit_test(test_map_at_its_limit_replaces_but_takes_nothing_new),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

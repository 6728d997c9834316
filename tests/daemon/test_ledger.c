#include <stdio.h>
#include <string.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "ledger.h"

static struct ledger_book book;

static void enter(unsigned number)
{
    struct source source = { .clock = "mono" };
    const struct ledger ledger = {
        .produced = number + 3, .delivered = number, .lost = 3, .unknown = 1, .damaged_bytes = 2
    };

    (void)snprintf(source.name, sizeof(source.name), "clr %u", number);
    ledger_book_enter(&book, &source, &ledger);
}

static void test_more_sources_than_rows_are_summed_and_nothing_is_missing(void **state)
{
    uint64_t produced = 0, delivered = 0;
    struct ledger total;

    (void)state;
    for (unsigned i = 0; i < 3 * LEDGER_ROWS_MAX; i++) {
        enter(i);
        produced += i + 3;
        delivered += i;
    }
    assert_int_equal(book.count, LEDGER_ROWS_MAX);
    assert_string_equal(book.rows[0].name, "clr 0");
    assert_string_equal(book.rows[LEDGER_ROWS_MAX - 1].name, "others");
    assert_null(book.rows[LEDGER_ROWS_MAX - 1].clock);
    total = ledger_book_total(&book);
    assert_int_equal(total.produced, produced);
    assert_int_equal(total.delivered, delivered);
    assert_int_equal(total.produced, total.delivered + total.lost);
    assert_int_equal(total.unknown, 3 * LEDGER_ROWS_MAX);
    assert_int_equal(total.damaged_bytes, 6 * LEDGER_ROWS_MAX);
}

static void test_each_kind_of_loss_is_a_loss(void **state)
{
    const struct ledger none = { .produced = 5, .delivered = 5 };
    const struct ledger lost = { .produced = 5, .delivered = 4, .lost = 1 };
    const struct ledger unknown = { .unknown = 1 };
    const struct ledger damaged = { .damaged_bytes = 1 };

    (void)state;
    assert_false(ledger_has_loss(&none));
    assert_true(ledger_has_loss(&lost));
    assert_true(ledger_has_loss(&unknown));
    assert_true(ledger_has_loss(&damaged));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_more_sources_than_rows_are_summed_and_nothing_is_missing),
        cmocka_unit_test(test_each_kind_of_loss_is_a_loss),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The CLR's schemas against proto's own tables, which are made from the same file another way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "event.h"
#include "tracerd/catalog.h"

static const struct {
    const char *name;
    enum trd_meaning meaning;
} meanings[] = {
    { "COUNT", TRD_MEANING_COUNT },       { "TEXT", TRD_MEANING_TEXT },
    { "BOOL", TRD_MEANING_BOOL },         { "ADDRESS", TRD_MEANING_ADDRESS },
    { "ENUM", TRD_MEANING_ENUM },         { "FLAGS", TRD_MEANING_FLAGS },
    { "TIME_NS", TRD_MEANING_TIME_NS },   { "SIZE", TRD_MEANING_SIZE },
    { "BIT_LIST", TRD_MEANING_BIT_LIST }, { "TID", TRD_MEANING_TID },
    { "THREAD", TRD_MEANING_THREAD },     { "METHOD", TRD_MEANING_METHOD },
    { "MODULE", TRD_MEANING_MODULE },     { "ASSEMBLY", TRD_MEANING_ASSEMBLY },
    { "TYPE", TRD_MEANING_TYPE },         { "TOKEN", TRD_MEANING_TOKEN },
    { "HRESULT", TRD_MEANING_HRESULT },   { "FLOAT", TRD_MEANING_FLOAT },
    { "HEX", TRD_MEANING_HEX },           { "JSON", TRD_MEANING_JSON },
};

static enum trd_meaning meaning_of(const char *name)
{
    for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
        if (strcmp(meanings[i].name, name) == 0)
            return meanings[i].meaning;
    fail_msg("meaning without a row in this test: %s", name);
    return TRD_MEANING_PLAIN;
}

static void check_names(const struct trd_event_field *told, const struct trd_field *field)
{
    assert_int_equal(field->names != NULL, told->names != NULL);
    if (!told->names)
        return;
    assert_int_equal(field->names->count, told->name_count);
    assert_true(field->names->mask == UINT64_MAX);
    for (uint32_t i = 0; i < told->name_count; i++) {
        assert_true(field->names->entries[i].value == told->names[i].value);
        assert_string_equal(field->names->entries[i].name, told->names[i].name);
    }
}

static void check_field(const struct trd_event_field *told, const struct trd_field *field)
{
    bool text = told->type == TRD_EVENT_TYPE_text;

    assert_string_equal(field->name, told->name);
    assert_int_equal(field->offset, told->offset);
    assert_int_equal(field->size, told->size);
    assert_int_equal(field->elem_size, text ? 1 : told->size);
    assert_int_equal(field->storage, text ? TRD_STORAGE_DYN_CHARS : TRD_STORAGE_INT);
    assert_int_equal(field->meaning, meaning_of(told->meaning));
    assert_int_equal(field->is_signed,
                     told->type == TRD_EVENT_TYPE_i32 || told->type == TRD_EVENT_TYPE_i64);
    assert_false(field->is_common || field->is_relative);
    assert_int_equal(field->count, 1);
    check_names(told, field);
}

static void test_every_event_has_the_schema_that_events_def_says(void **state)
{
    size_t count = 0;

    (void)state;
    for (const struct trd_event_info *info; (info = trd_event_get(count)); count++) {
        const struct trd_schema *schema = trd_clr_schema(info->id);

        assert_non_null(schema);
        assert_int_equal(schema->id, info->id);
        assert_true(schema->is_clr && !schema->big_endian);
        assert_string_equal(schema->full_name, info->name);
        assert_string_equal(schema->system, "clr");
        assert_string_equal(schema->name, info->name + strlen("clr:"));
        assert_int_equal(schema->fixed_size, info->fixed_size);
        assert_int_equal(schema->field_count, info->field_count);
        assert_int_equal(schema->common_count, 0);
        for (uint32_t i = 0; i < schema->field_count; i++)
            check_field(&info->fields[i], &schema->fields[i]);
    }
    assert_true(count > 20);
}

static void test_no_schema_without_an_event(void **state)
{
    (void)state;
    for (uint32_t id = 0; id <= UINT16_MAX; id++)
        assert_int_equal(trd_clr_schema((uint16_t)id) != NULL,
                         trd_event_find((uint16_t)id) != NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_event_has_the_schema_that_events_def_says),
        cmocka_unit_test(test_no_schema_without_an_event),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* common/format.c, format_fields.c, print_meaning.c: what fields are and what they mean. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>

#include "field.h"
#include "format_maker.h"

static const struct trd_field *field_of(const struct made *made, const char *name)
{
    const struct trd_field *field = trd_schema_field(made->schema, name);

    assert_non_null(field);
    return field;
}

static void expect_storage(const struct made *made, const char *name, enum trd_storage storage,
                           uint16_t elem_size, uint16_t count)
{
    const struct trd_field *field = field_of(made, name);

    assert_int_equal(field->storage, storage);
    assert_int_equal(field->elem_size, elem_size);
    assert_int_equal(field->count, count);
}

static void test_format_storage_follows_the_declaration(void **state)
{
    struct made made;

    (void)state;
    made_init(&made, false, 8);
    made_add(&made,
             "unsigned long a;offset:8;size:8;signed:0;\n"
             "char text[16];offset:16;size:16;signed:0;\n"
             "unsigned char bytes[4];offset:32;size:4;signed:0;\n"
             "u64 many[3];offset:36;size:24;signed:0;\n"
             "struct in6_addr where;offset:60;size:16;signed:0;\n"
             "char letter;offset:76;size:1;signed:1;\n"
             "__data_loc char[] name;offset:80;size:4;signed:0;\n"
             "__data_loc u16[] words;offset:84;size:4;signed:0;\n"
             "__data_loc struct thing[] things;offset:88;size:4;signed:0;\n"
             "__data_loc struct thing *[] pointers;offset:92;size:4;signed:0;\n"
             "__rel_loc char[] near;offset:96;size:4;signed:0;\n"
             "__data_loc cpumask_t mask;offset:100;size:4;signed:0;\n"
             "int sized[32 + 1];offset:104;size:132;signed:1;\n"
             "unsigned long tail[];offset:240;size:0;signed:0;",
             "\"\"");
    expect_storage(&made, "a", TRD_STORAGE_INT, 8, 1);
    expect_storage(&made, "text", TRD_STORAGE_CHARS, 1, 1);
    expect_storage(&made, "bytes", TRD_STORAGE_INTS, 1, 4);
    expect_storage(&made, "many", TRD_STORAGE_INTS, 8, 3);
    expect_storage(&made, "where", TRD_STORAGE_BYTES, 1, 1);
    expect_storage(&made, "letter", TRD_STORAGE_INT, 1, 1);
    expect_storage(&made, "name", TRD_STORAGE_DYN_CHARS, 1, 1);
    expect_storage(&made, "words", TRD_STORAGE_DYN_INTS, 2, 1);
    expect_storage(&made, "things", TRD_STORAGE_DYN_BYTES, 1, 1);
    expect_storage(&made, "pointers", TRD_STORAGE_DYN_INTS, 8, 1);
    expect_storage(&made, "near", TRD_STORAGE_DYN_CHARS, 1, 1);
    expect_storage(&made, "mask", TRD_STORAGE_DYN_INTS, 8, 1);
    expect_storage(&made, "sized", TRD_STORAGE_INTS, 4, 33);
    expect_storage(&made, "tail", TRD_STORAGE_TAIL_INTS, 8, 1);
    assert_false(field_of(&made, "name")->is_relative);
    assert_true(field_of(&made, "near")->is_relative);
    assert_int_equal(field_of(&made, "mask")->meaning, TRD_MEANING_BITMASK);
    assert_int_equal(field_of(&made, "pointers")->meaning, TRD_MEANING_ADDRESS);
    assert_string_equal(field_of(&made, "text")->declaration, "char[16]");
    assert_string_equal(field_of(&made, "words")->declaration, "__data_loc u16[]");
    assert_int_equal(made.schema->fixed_size, 240);
    assert_int_equal(made.schema->common_count, 4);
    made_finish(&made);
}

static void test_format_longs_have_the_width_of_the_recording_machine(void **state)
{
    struct made made;

    (void)state;
    made_init(&made, true, 4);
    made_add(&made,
             "__data_loc unsigned long[] words;offset:8;size:4;signed:0;\n"
             "__data_loc cpumask_t mask;offset:12;size:4;signed:0;",
             "\"\"");
    expect_storage(&made, "words", TRD_STORAGE_DYN_INTS, 4, 1);
    expect_storage(&made, "mask", TRD_STORAGE_DYN_INTS, 4, 1);
    made_finish(&made);
}

/* C9: one byte decides, whatever lies beside it. */
static void test_format_bool_is_one_byte(void **state)
{
    struct made made;
    struct field_bytes bytes = { 0 };

    (void)state;
    made_init(&made, false, 8);
    made_add(&made,
             "u8 a;offset:8;size:1;signed:0;\nbool x;offset:9;size:1;signed:0;\n"
             "u16 b;offset:10;size:2;signed:0;",
             "\"%d\", REC->x");
    made_put_int(&made, 0xffff01ff, 4);
    assert_int_equal(field_of(&made, "x")->meaning, TRD_MEANING_BOOL);
    assert_true(field_find(made.schema, field_of(&made, "x"), made.data, made.size, &bytes));
    assert_int_equal(bytes.size, 1);
    assert_int_equal(*bytes.at, 1);
    assert_string_equal(made_text(&made), "1");
    made_finish(&made);
}

/* C5: kernels add columns; they are passed on. */
static void test_format_unknown_common_fields_are_kept_as_common(void **state)
{
    static const char text[] =
        "name: x\nID: 9\nformat:\n"
        "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
        "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
        "\tfield:unsigned char common_migrate_disable;\toffset:8;\tsize:1;"
        "\tsigned:0;\n\n"
        "\tfield:int a;\toffset:12;\tsize:4;\tsigned:1;\n\n"
        "print fmt: \"%d\", REC->a\n";
    struct made made;

    (void)state;
    made_init(&made, false, 8);
    assert_int_equal(trd_catalog_add_format(made.catalog, "s", text, strlen(text)), 0);
    made.schema = trd_catalog_find(made.catalog, 9);
    assert_int_equal(made.schema->common_count, 3);
    assert_int_equal(made.schema->field_count, 4);
    assert_true(field_of(&made, "common_migrate_disable")->is_common);
    assert_false(field_of(&made, "a")->is_common);
    made_finish(&made);
}

/* libtraceevent 1.7.1 dereferences NULL here. */
static void test_format_attribute_in_front_of_a_type(void **state)
{
    struct made made;

    (void)state;
    made_init(&made, false, 8);
    made_add(&made, "__attribute__((user))unsigned char x;offset:8;size:1;signed:0;", "\"\"");
    assert_string_equal(field_of(&made, "x")->declaration, "unsigned char");
    made_finish(&made);
}

static void test_format_text_without_name_or_id_is_refused(void **state)
{
    static const char *const texts[] = { "",
                                         "name: x\n",
                                         "ID: 3\nformat:\n",
                                         "name: x\nID: y\n",
                                         "name:\nID: 4\n",
                                         "name: x\nID: 99999999999\n",
                                         "name: x\nID: 70000\nformat:\n" };
    struct trd_catalog *catalog;

    (void)state;
    assert_int_equal(trd_catalog_create(&catalog, false, 8), 0);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_int_equal(trd_catalog_add_format(catalog, "s", texts[i], strlen(texts[i])),
                         -EBADMSG);
    assert_null(trd_catalog_get(catalog, 0));
    trd_catalog_destroy(catalog);
}

static void test_format_field_outside_of_any_record_is_refused(void **state)
{
    static const char text[] = "name: x\nID: 9\nformat:\n"
                               "\tfield:int a;\toffset:65535;\tsize:4;\tsigned:1;\n";
    struct trd_catalog *catalog;

    (void)state;
    assert_int_equal(trd_catalog_create(&catalog, false, 8), 0);
    assert_int_equal(trd_catalog_add_format(catalog, "s", text, strlen(text)), -EBADMSG);
    trd_catalog_destroy(catalog);
}

static void expect_meaning(const char *declaration, const char *print, enum trd_meaning meaning)
{
    struct made made;

    made_init(&made, false, 8);
    made_add(&made, declaration, print);
    assert_int_equal(field_of(&made, "x")->meaning, meaning);
    assert_null(made.schema->print_error);
    made_finish(&made);
}

#define U32 "u32 x;offset:8;size:4;signed:0;"
#define U64 "u64 x;offset:8;size:8;signed:0;"
#define LONG "unsigned long x;offset:8;size:8;signed:0;"

static void test_format_meaning_comes_from_the_use_in_the_print_format(void **state)
{
    (void)state;
    expect_meaning(U32, "\"%u\", REC->x", TRD_MEANING_PLAIN);
    expect_meaning(U32, "\"0x%08x\", REC->x", TRD_MEANING_HEX);
    expect_meaning(LONG, "\"%pS\", (void *)REC->x", TRD_MEANING_SYMBOL);
    expect_meaning("void * x;offset:8;size:8;signed:0;", "\"%ps\", REC->x", TRD_MEANING_SYMBOL);
    expect_meaning("void * x;offset:8;size:8;signed:0;", "\"%p\", REC->x", TRD_MEANING_ADDRESS);
    expect_meaning(U32,
                   "\"%d,%d\", ((unsigned int) ((REC->x) >> 20)), "
                   "((unsigned int) ((REC->x) & ((1U << 20) - 1)))",
                   TRD_MEANING_DEVICE);
    expect_meaning(U32, "\"%d\", REC->x >> 20", TRD_MEANING_PLAIN);
    expect_meaning("__u8 x[4];offset:8;size:4;signed:0;", "\"%pI4\", REC->x", TRD_MEANING_IPV4);
    expect_meaning("__be32 x;offset:8;size:4;signed:0;", "\"%pI4\", &REC->x", TRD_MEANING_IPV4);
    expect_meaning("__u8 x[16];offset:8;size:16;signed:0;", "\"%pI6c\", REC->x", TRD_MEANING_IPV6);
    expect_meaning("__u8 x[28];offset:8;size:28;signed:0;", "\"%pISpc\", REC->x",
                   TRD_MEANING_SOCKADDR);
    expect_meaning("u8 x[6];offset:8;size:6;signed:0;", "\"%pM\", REC->x", TRD_MEANING_MAC);
    expect_meaning("u8 x[16];offset:8;size:16;signed:0;", "\"%pU\", REC->x", TRD_MEANING_UUID);
    expect_meaning("u8 x[16];offset:8;size:16;signed:0;", "\"%pUl\", REC->x", TRD_MEANING_GUID);
    expect_meaning("__data_loc unsigned long[] x;offset:8;size:4;signed:0;",
                   "\"%s\", __get_bitmask(x)", TRD_MEANING_BITMASK);
    expect_meaning("unsigned long x[8];offset:8;size:64;signed:0;",
                   "\"%ps %ps\", (void *)REC->x[0], (void *)REC->x[1]", TRD_MEANING_STACK);
    expect_meaning(U64,
                   "\"%llu.%09u\", __print_ns_to_secs(REC->x), __print_ns_without_secs(REC->x)",
                   TRD_MEANING_TIME_NS);
    expect_meaning("char x;offset:8;size:1;signed:1;", "\"%c\", REC->x", TRD_MEANING_CHAR);
    expect_meaning(U32, "\"%s\", __print_flags(REC->x, \"|\", { 1, \"A\" })", TRD_MEANING_FLAGS);
    expect_meaning(U32, "\"%s\", __print_symbolic(REC->x, { 1, \"A\" })", TRD_MEANING_ENUM);
    /* Cut off, computed: the name would not be the field's. */
    expect_meaning(U32, "\"%s\", __print_symbolic((u8)REC->x, { 1, \"A\" })", TRD_MEANING_PLAIN);
    expect_meaning(U32, "\"%s\", __print_symbolic(REC->x >> 4, { 1, \"A\" })", TRD_MEANING_PLAIN);
}

static void test_format_contradicting_names_leave_a_number(void **state)
{
    (void)state;
    expect_meaning(U32,
                   "\"%s\", REC->x & 1 ? __print_symbolic(REC->x, { 1, \"A\" }) : "
                   "__print_symbolic(REC->x, { 2, \"B\" })",
                   TRD_MEANING_HEX);
    expect_meaning(U32,
                   "\"%s %s\", __print_symbolic(REC->x, { 1, \"A\" }), "
                   "__print_symbolic(REC->x, { 1, \"A\" })",
                   TRD_MEANING_ENUM);
}

static void test_format_state_of_sched_switch_is_flags_behind_a_mask(void **state)
{
    static const char *const names[] = { "S", "D", "T", "t", "X", "Z", "P", "I" };
    struct made made;
    const struct trd_field *field;

    (void)state;
    made_init(&made, false, 8);
    made_add(&made, "long prev_state;offset:8;size:8;signed:1;",
             "\"prev_state=%s%s\", (REC->prev_state & ((((0x00000000 | 0x00000001 | 0x00000002 | "
             "0x00000004 | 0x00000008 | 0x00000010 | 0x00000020 | 0x00000040) + 1) << 1) - 1)) ? "
             "__print_flags(REC->prev_state & ((((0x00000000 | 0x00000001 | 0x00000002 | "
             "0x00000004 | 0x00000008 | 0x00000010 | 0x00000020 | 0x00000040) + 1) << 1) - 1), "
             "\"|\", { 0x00000001, \"S\" }, { 0x00000002, \"D\" }, { 0x00000004, \"T\" }, "
             "{ 0x00000008, \"t\" }, { 0x00000010, \"X\" }, { 0x00000020, \"Z\" }, "
             "{ 0x00000040, \"P\" }, { 0x00000080, \"I\" }) : \"R\", REC->prev_state & "
             "(((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | 0x00000010 | "
             "0x00000020 | 0x00000040) + 1) << 1) ? \"+\" : \"\"");
    field = field_of(&made, "prev_state");
    assert_int_equal(field->meaning, TRD_MEANING_FLAGS);
    assert_int_equal(field->names->mask, 0xff);
    assert_int_equal(field->names->count, 8);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(field->names->entries[i].value, 1u << i);
        assert_string_equal(field->names->entries[i].name, names[i]);
    }
    made_put_int(&made, 0x102, 8);
    assert_string_equal(made_text(&made), "prev_state=D+");
    made_finish(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format_storage_follows_the_declaration),
        cmocka_unit_test(test_format_longs_have_the_width_of_the_recording_machine),
        cmocka_unit_test(test_format_bool_is_one_byte),
        cmocka_unit_test(test_format_unknown_common_fields_are_kept_as_common),
        cmocka_unit_test(test_format_attribute_in_front_of_a_type),
        cmocka_unit_test(test_format_text_without_name_or_id_is_refused),
        cmocka_unit_test(test_format_field_outside_of_any_record_is_refused),
        cmocka_unit_test(test_format_meaning_comes_from_the_use_in_the_print_format),
        cmocka_unit_test(test_format_contradicting_names_leave_a_number),
        cmocka_unit_test(test_format_state_of_sched_switch_is_flags_behind_a_mask),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

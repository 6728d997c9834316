/*
 * Lines of hand-made records, read back with jansson, a strict parser that shares no code with the
 * writer. Expected values are written down, not computed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "event.h"
#include "line_check.h"
#include "tracerd/json.h"

static const struct trd_name state_names[] = { { 1, "S" }, { 2, "D" }, { 0x10, "X" }, { 0, "R" } };
static const struct trd_names state_flags = { state_names, 4, 0xff };
static const struct trd_name mode_values[] = { { 0, "start\"up" }, { UINT64_MAX, "minus" } };
static const struct trd_names mode_enum = { mode_values, 2, UINT64_MAX };

#define INT_FIELD(ident, at, bytes, sign, kind)                                                    \
    {                                                                                              \
        .name = ident, .declaration = "", .offset = at, .size = bytes, .elem_size = bytes,         \
        .count = 1, .storage = TRD_STORAGE_INT, .meaning = TRD_MEANING_##kind, .is_signed = sign   \
    }
#define ARRAY_FIELD(ident, at, bytes, elem, kept, kind)                                            \
    {                                                                                              \
        .name = ident, .declaration = "", .offset = at, .size = bytes, .elem_size = elem,          \
        .count = elem ? bytes / elem : 1, .storage = TRD_STORAGE_##kept,                           \
        .meaning = TRD_MEANING_##kind                                                              \
    }
#define SCHEMA(table)                                                                              \
    {                                                                                              \
        .system = "test", .name = "event", .full_name = "test:event", .id = 1, .long_size = 8,     \
        .fields = table, .field_count = sizeof(table) / sizeof(table[0]), .print_text = ""         \
    }

static struct trd_record make_record(const struct trd_schema *schema, const void *data, size_t size)
{
    struct trd_record record;

    trd_record_init(&record);
    record.schema = schema;
    record.data = data;
    record.size = (uint32_t)size;
    record.ts_ns = 1764540000123456789;
    return record;
}

/* The line of the record, parsed; every line is also held against the published schema. */
static json_t *line_of(const struct trd_record *record)
{
    char *out = malloc(TRD_JSON_LINE_MAX);
    struct trd_json *json;
    int64_t size;
    json_t *line;

    assert_int_equal(trd_json_create(&json, NULL), 0);
    size = trd_json_line(json, record, 17, out, TRD_JSON_LINE_MAX);
    assert_true(size > 0);
    line = line_check(out, (size_t)size);
    trd_json_destroy(json);
    free(out);
    return line;
}

static void check_args(const struct trd_record *record, const char *expected)
{
    json_t *line = line_of(record);
    json_t *args = json_loads(expected, 0, NULL);

    assert_non_null(args);
    if (!json_equal(json_object_get(line, "args"), args)) {
        char *text = json_dumps(json_object_get(line, "args"), JSON_COMPACT);

        print_error("got  %s\nwant %s\n", text, expected);
        free(text);
        fail();
    }
    json_decref(args);
    json_decref(line);
}

static void test_integers_are_numbers_up_to_32_bits_and_strings_beyond(void **state)
{
    static const struct trd_field fields[] = {
        INT_FIELD("u8", 0, 1, false, PLAIN),    INT_FIELD("s8", 1, 1, true, PLAIN),
        INT_FIELD("u16", 2, 2, false, COUNT),   INT_FIELD("s16", 4, 2, true, PLAIN),
        INT_FIELD("u32", 8, 4, false, HEX),     INT_FIELD("s32", 12, 4, true, HRESULT),
        INT_FIELD("u64", 16, 8, false, PLAIN),  INT_FIELD("s64", 24, 8, true, TIME_NS),
        INT_FIELD("yes", 6, 1, false, BOOL),    INT_FIELD("no", 7, 1, false, BOOL),
        INT_FIELD("ptr", 16, 8, false, ADDRESS)
    };
    static const struct trd_schema schema = SCHEMA(fields);
    const struct {
        uint8_t u8;
        int8_t s8;
        uint16_t u16;
        int16_t s16;
        uint8_t yes, no;
        uint32_t u32;
        int32_t s32;
        uint64_t u64;
        int64_t s64;
    } data = { 255, -128, 65535, -32768, 129, 0, UINT32_MAX, INT32_MIN, UINT64_MAX, INT64_MIN };
    struct trd_record record = make_record(&schema, &data, sizeof(data));

    (void)state;
    check_args(&record, "{\"u8\":255,\"s8\":-128,\"u16\":65535,\"s16\":-32768,\"u32\":4294967295,"
                        "\"s32\":-2147483648,\"u64\":\"18446744073709551615\","
                        "\"s64\":\"-9223372036854775808\",\"yes\":true,\"no\":false,"
                        "\"ptr\":\"0xffffffffffffffff\"}");
}

static void test_floats_read_back_as_the_same_number(void **state)
{
    static const struct trd_field fields[] = {
        INT_FIELD("pi", 0, 8, false, FLOAT),     INT_FIELD("least", 8, 8, false, FLOAT),
        INT_FIELD("huge", 16, 8, false, FLOAT),  INT_FIELD("nan", 24, 8, false, FLOAT),
        INT_FIELD("inf", 32, 8, false, FLOAT),   INT_FIELD("zero", 40, 8, false, FLOAT),
        INT_FIELD("tenth", 48, 4, false, FLOAT), INT_FIELD("minus", 52, 4, false, FLOAT)
    };
    static const struct trd_schema schema = SCHEMA(fields);
    const struct {
        double pi, least, huge, nan, inf, zero;
        float tenth, minus;
    } data = {
        3.141592653589793, 5e-324, -1.7976931348623157e308, NAN, INFINITY, 0, 0.1f, -INFINITY
    };
    struct trd_record record = make_record(&schema, &data, sizeof(data));

    (void)state;
    check_args(&record, "{\"pi\":3.141592653589793,\"least\":4.94065645841247e-324,"
                        "\"huge\":-1.7976931348623157e308,\"nan\":\"NaN\",\"inf\":\"Infinity\","
                        "\"zero\":0,\"tenth\":0.1,\"minus\":\"-Infinity\"}");
}

static void test_big_endian_record_of_a_32_bit_kernel_reads_the_same(void **state)
{
    static const struct trd_field fields[] = {
        INT_FIELD("u16", 0, 2, false, PLAIN),          INT_FIELD("s16", 2, 2, true, PLAIN),
        INT_FIELD("u32", 4, 4, false, PLAIN),          INT_FIELD("s64", 8, 8, true, PLAIN),
        INT_FIELD("ptr", 4, 4, false, ADDRESS),        ARRAY_FIELD("cpus", 16, 8, 4, INTS, BITMASK),
        ARRAY_FIELD("text", 24, 4, 1, DYN_CHARS, TEXT)
    };
    static const struct trd_schema schema = { .system = "test",
                                              .name = "event",
                                              .full_name = "test:event",
                                              .big_endian = true,
                                              .long_size = 4,
                                              .fields = fields,
                                              .field_count = 7 };
    static const uint8_t data[] = { 0x01, 0x02, 0xff, 0xfe, 0xc0, 0x00, 0x00, 0x10,
                                    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfd,
                                    0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x02,
                                    0x00, 0x03, 0x00, 0x1c, 'h',  'i',  0x00, 0x00 };
    struct trd_record record = make_record(&schema, data, sizeof(data));

    (void)state;
    check_args(&record, "{\"u16\":258,\"s16\":-2,\"u32\":3221225488,\"s64\":\"-3\","
                        "\"ptr\":\"0xc0000010\",\"cpus\":[0,2,33],\"text\":\"hi\"}");
}

static void test_flags_and_enums_carry_raw_and_names(void **state)
{
    struct trd_field fields[] = { INT_FIELD("state", 0, 8, false, FLAGS),
                                  INT_FIELD("none", 8, 4, false, FLAGS),
                                  INT_FIELD("mode", 12, 4, true, ENUM),
                                  INT_FIELD("odd", 16, 4, true, ENUM),
                                  ARRAY_FIELD("modes", 12, 8, 4, INTS, ENUM) };
    const struct trd_schema schema = SCHEMA(fields);
    const struct {
        uint64_t state;
        uint32_t none;
        int32_t mode, odd;
    } data = { 0x113, 0, -1, 7 };
    struct trd_record record = make_record(&schema, &data, sizeof(data));

    (void)state;
    fields[0].names = fields[1].names = &state_flags;
    fields[2].names = fields[3].names = fields[4].names = &mode_enum;
    fields[4].is_signed = true;
    check_args(&record, "{\"state\":{\"raw\":\"275\",\"names\":[\"S\",\"D\",\"X\"]},"
                        "\"none\":{\"raw\":0,\"names\":[]},"
                        "\"mode\":{\"raw\":-1,\"name\":\"minus\"},\"odd\":{\"raw\":7},"
                        "\"modes\":[{\"raw\":-1,\"name\":\"minus\"},{\"raw\":7}]}");
}

static void test_texts_inline_dynamic_relative_and_to_the_end(void **state)
{
    struct trd_field fields[] = { ARRAY_FIELD("comm", 0, 16, 1, CHARS, TEXT),
                                  ARRAY_FIELD("full", 0, 4, 1, CHARS, TEXT),
                                  ARRAY_FIELD("dyn", 16, 4, 1, DYN_CHARS, TEXT),
                                  ARRAY_FIELD("rel", 20, 4, 1, DYN_CHARS, TEXT),
                                  ARRAY_FIELD("u8s", 24, 8, 1, INTS, TEXT),
                                  ARRAY_FIELD("rest", 24, 0, 1, TAIL_CHARS, TEXT) };
    const struct trd_schema schema = SCHEMA(fields);
    struct {
        char comm[16];
        uint32_t dyn, rel;
        char rest[8];
    } data = { "a b-1 [000]: x", 3 << 16 | 25, 4 << 16 | 0, "tail\xff" };
    struct trd_record record = make_record(&schema, &data, sizeof(data));

    (void)state;
    fields[3].is_relative = true;
    check_args(&record, "{\"comm\":\"a b-1 [000]: x\",\"full\":\"a b-\",\"dyn\":\"ail\","
                        "\"rel\":\"tail\",\"u8s\":\"tail\\uf7ff\",\"rest\":\"tail\\uf7ff\"}");
}

static void test_arrays_of_every_element_size(void **state)
{
    struct trd_field fields[] = { ARRAY_FIELD("u8", 0, 4, 1, INTS, PLAIN),
                                  ARRAY_FIELD("hex", 0, 4, 1, INTS, HEX),
                                  ARRAY_FIELD("bytes", 0, 4, 1, BYTES, PLAIN),
                                  ARRAY_FIELD("s16", 0, 4, 2, INTS, PLAIN),
                                  ARRAY_FIELD("u64", 8, 16, 8, INTS, PLAIN),
                                  ARRAY_FIELD("dyn", 4, 4, 4, DYN_INTS, PLAIN),
                                  ARRAY_FIELD("none", 24, 4, 8, DYN_INTS, HEX),
                                  ARRAY_FIELD("mask", 8, 8, 8, INTS, BITMASK),
                                  INT_FIELD("list", 4, 2, false, BIT_LIST),
                                  ARRAY_FIELD("stack", 8, 24, 8, INTS, STACK),
                                  ARRAY_FIELD("tail", 28, 0, 2, TAIL_INTS, PLAIN) };
    const struct trd_schema schema = SCHEMA(fields);
    struct {
        int16_t s16[2];
        uint32_t dyn;
        uint64_t u64[2];
        uint32_t none;
        uint16_t tail[2];
    } data = { { -2, 3 }, 8 << 16 | 8, { 0x8000000000000001, 0 }, 0, { 5, 6 } };
    struct trd_record record = make_record(&schema, &data, sizeof(data));

    (void)state;
    fields[3].is_signed = true;
    check_args(&record, "{\"u8\":[254,255,3,0],\"hex\":\"feff0300\",\"bytes\":\"feff0300\","
                        "\"s16\":[-2,3],\"u64\":[\"9223372036854775809\",\"0\"],"
                        "\"dyn\":[1,2147483648],\"none\":[],\"mask\":[0,63],\"list\":[3],"
                        "\"stack\":[{\"addr\":\"0x8000000000000001\"}],\"tail\":[5,6]}");
}

static void test_addresses_devices_and_identifiers_have_their_written_form(void **state)
{
    struct trd_field fields[] = { INT_FIELD("ip", 0, 4, false, IPV4),
                                  ARRAY_FIELD("ip4", 0, 4, 1, INTS, IPV4),
                                  ARRAY_FIELD("ip6", 4, 16, 1, INTS, IPV6),
                                  ARRAY_FIELD("mac", 20, 6, 1, BYTES, MAC),
                                  ARRAY_FIELD("short", 20, 5, 1, BYTES, MAC),
                                  ARRAY_FIELD("uuid", 4, 16, 1, INTS, UUID),
                                  ARRAY_FIELD("guid", 4, 16, 1, BYTES, GUID),
                                  INT_FIELD("dev", 28, 4, false, DEVICE),
                                  ARRAY_FIELD("in", 32, 16, 1, BYTES, SOCKADDR),
                                  ARRAY_FIELD("other", 48, 4, 1, INTS, SOCKADDR),
                                  INT_FIELD("letter", 20, 1, false, CHAR) };
    const struct trd_schema schema = SCHEMA(fields);
    static const uint8_t data[] = {
        192, 168,  0,    1,    0x20, 0x01, 0x0d, 0xb8, 0, 0, 0,    0,    0,    0, 0, 0, 0, 0,
        0,   0x2a, 0x41, 0x17, 0xa5, 0x00, 0x01, 0xff, 0, 0, 0x03, 0x00, 0x80, 0, 2, 0, 0, 53,
        127, 0,    0,    1,    0,    0,    0,    0,    0, 0, 0,    0,    7,    0, 1, 2
    };
    struct trd_record record = make_record(&schema, data, sizeof(data));

    (void)state;
    check_args(&record, "{\"ip\":\"192.168.0.1\",\"ip4\":\"192.168.0.1\",\"ip6\":\"2001:db8::2a\","
                        "\"mac\":\"41:17:a5:00:01:ff\",\"short\":\"4117a50001\","
                        "\"uuid\":\"20010db8-0000-0000-0000-00000000002a\","
                        "\"guid\":\"b80d0120-0000-0000-0000-00000000002a\",\"dev\":\"8:3\","
                        "\"in\":{\"family\":2,\"addr\":\"127.0.0.1\",\"port\":53},"
                        "\"other\":{\"family\":7,\"hex\":\"0102\"},\"letter\":\"A\"}");
}

/* inet_ntop is the truth; it follows the same rules but for the IPv4-compatible ::a.b.c.d. */
static void test_ipv6_is_written_as_the_c_library_writes_it(void **state)
{
    static const struct trd_field fields[] = { ARRAY_FIELD("ip", 0, 16, 1, INTS, IPV6) };
    static const struct trd_schema schema = SCHEMA(fields);
    uint8_t data[16];

    (void)state;
    srand(7);
    for (int round = 0; round < 500; round++) {
        char text[INET6_ADDRSTRLEN], expected[80];
        struct trd_record record = make_record(&schema, data, sizeof(data));

        for (int i = 0; i < 16; i += 2) {
            data[i] = rand() % 3 ? 0 : (uint8_t)rand();
            data[i + 1] = rand() % 3 ? 0 : (uint8_t)rand();
        }
        data[0] |= 0x20;
        inet_ntop(AF_INET6, data, text, sizeof(text));
        (void)snprintf(expected, sizeof(expected), "{\"ip\":\"%s\"}", text);
        check_args(&record, expected);
    }
    memset(data, 0, sizeof(data));
    data[10] = data[11] = 0xff;
    data[12] = 10;
    {
        struct trd_record record = make_record(&schema, data, sizeof(data));

        check_args(&record, "{\"ip\":\"::ffff:10.0.0.0\"}");
    }
}

static const char *resolve(void *context, int32_t pid, enum trd_meaning meaning, uint64_t id,
                           size_t *out_size)
{
    assert_ptr_equal(context, (void *)1);
    assert_int_equal(pid, 4242);
    if (meaning != TRD_MEANING_METHOD || id != 0x7f00)
        return NULL;
    *out_size = 3;
    return "A.B and more";
}

static void test_references_carry_their_name_where_it_is_known(void **state)
{
    const struct trd_ev_jit_start known = { .method = 0x7f00 }, unknown = { .method = 0x7f08 };
    const struct trd_json_names names = { .resolve = resolve, .context = (void *)1 };
    struct trd_record record = make_record(trd_clr_schema(TRD_EV_jit_start), &known, sizeof(known));
    struct trd_json *json;
    char line[1024];

    (void)state;
    record.source = TRD_SOURCE_CLR;
    record.pid = 4242;
    assert_int_equal(trd_json_create(&json, &names), 0);
    line[trd_json_line(json, &record, 1, line, sizeof(line))] = '\0';
    assert_string_equal(line, "{\"v\":1,\"k\":\"ev\",\"seq\":1,\"ts\":\"1764540000123456789\","
                              "\"src\":\"clr\",\"pid\":4242,\"name\":\"clr:jit_start\",\"args\":"
                              "{\"method\":{\"id\":\"0x7f00\",\"name\":\"A.B\"}}}\n");
    record.data = (const uint8_t *)&unknown;
    line[trd_json_line(json, &record, 2, line, sizeof(line))] = '\0';
    assert_non_null(strstr(line, "\"args\":{\"method\":{\"id\":\"0x7f08\"}}}\n"));
    trd_json_destroy(json);
}

static const char symbol_format[] = "name: call\nID: 7\nformat:\n"
                                    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;"
                                    "\tsigned:0;\n\n"
                                    "\tfield:void * ip;\toffset:8;\tsize:8;\tsigned:0;\n\n"
                                    "print fmt: \"%pS\", REC->ip\n";

static const struct trd_schema *add_kernel(struct trd_json *json, struct trd_catalog **catalog,
                                           const char *symbols)
{
    assert_int_equal(trd_catalog_create(catalog, false, 8), 0);
    assert_int_equal(trd_catalog_add_kallsyms(*catalog, symbols, strlen(symbols)), 0);
    assert_int_equal(
        trd_catalog_add_format(*catalog, "test", symbol_format, sizeof(symbol_format) - 1), 0);
    trd_json_add_catalog(json, *catalog);
    return trd_catalog_find(*catalog, 7);
}

/* Two files of two kernels: the same address, the same event id, and two names. */
static void test_symbols_come_from_the_kernel_of_the_record(void **state)
{
    static const char *const symbols[2] = {
        "ffffffff81000000 T start\nffffffff81001000 t one_read\nffffffff81002000 T end\n",
        "ffffffff81000000 T start\nffffffff81001010 t two_read\nffffffff81002000 T end\n"
    };
    static const char *const expected[2] = {
        "\"args\":{\"ip\":{\"addr\":\"0xffffffff8100101c\",\"sym\":\"one_read+0x1c\"}}",
        "\"args\":{\"ip\":{\"addr\":\"0xffffffff8100101c\",\"sym\":\"two_read+0xc\"}}"
    };
    const uint64_t data[2] = { 7, 0xffffffff8100101c };
    struct trd_catalog *catalogs[2];
    struct trd_json *json;
    char line[1024];

    (void)state;
    assert_int_equal(trd_json_create(&json, NULL), 0);
    for (int i = 0; i < 2; i++) {
        struct trd_record record =
            make_record(add_kernel(json, &catalogs[i], symbols[i]), data, sizeof(data));

        line[trd_json_line(json, &record, 1, line, sizeof(line))] = '\0';
        if (!strstr(line, expected[i]))
            fail_msg("%s", line);
    }
    trd_json_destroy(json);
    for (int i = 0; i < 2; i++)
        trd_catalog_destroy(catalogs[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers_are_numbers_up_to_32_bits_and_strings_beyond),
        cmocka_unit_test(test_floats_read_back_as_the_same_number),
        cmocka_unit_test(test_big_endian_record_of_a_32_bit_kernel_reads_the_same),
        cmocka_unit_test(test_flags_and_enums_carry_raw_and_names),
        cmocka_unit_test(test_texts_inline_dynamic_relative_and_to_the_end),
        cmocka_unit_test(test_arrays_of_every_element_size),
        cmocka_unit_test(test_addresses_devices_and_identifiers_have_their_written_form),
        cmocka_unit_test(test_ipv6_is_written_as_the_c_library_writes_it),
        cmocka_unit_test(test_references_carry_their_name_where_it_is_known),
        cmocka_unit_test(test_symbols_come_from_the_kernel_of_the_record),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

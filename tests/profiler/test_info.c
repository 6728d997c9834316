/* Every question to the runtime against every kind of odd answer: S_OK with nothing in it, S_FALSE,
 * incomplete data, names without end, failures that fill their outs all the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "fake_info.h"
#include "info.h"
#include "info_code.h"
#include "info_eventpipe.h"

#define UNTOUCHED 0x5a5a5a5au

/* Each asks one question; true with an answer that is checked to be the good one. */

static bool ask_runtime(void)
{
    struct info_version version = { 1, 2, 3, 4 };
    bool known = info_runtime(fake_info(), &version);

    assert_int_equal(version.major, known ? 10 : 1);
    assert_int_equal(version.build, known ? 12 : 3);
    return known;
}

static bool ask_function(void)
{
    ModuleID module = UNTOUCHED;
    mdToken token = UNTOUCHED;
    bool known = info_function(fake_info(), 1, &module, &token);

    assert_int_equal(module, known ? FAKE_MODULE : UNTOUCHED);
    assert_int_equal(token, known ? FAKE_METHOD_TOKEN : UNTOUCHED);
    return known;
}

static bool ask_code(void)
{
    COR_PRF_CODE_INFO code = { UNTOUCHED, UNTOUCHED };
    bool known = info_code(fake_info(), 1, &code);

    assert_int_equal(code.startAddress, known ? FAKE_CODE : UNTOUCHED);
    assert_int_equal(code.size, known ? FAKE_CODE_SIZE : UNTOUCHED);
    return known;
}

static bool ask_code_starts(void)
{
    UINT_PTR starts[INFO_BODIES_MAX] = { UNTOUCHED };
    size_t count = info_code_starts(fake_info(), 1, 0, starts);

    assert_in_range(count, 0, INFO_BODIES_MAX); /* however many are claimed */
    return count > 0 && starts[0] == FAKE_CODE;
}

static bool ask_code_parts(void)
{
    COR_PRF_CODE_INFO parts[INFO_PARTS_MAX];
    size_t count = info_code_parts(fake_info(), FAKE_CODE, parts);

    assert_in_range(count, 0, 1); /* what has no address is no part, however many are claimed */
    assert_true(count == 0 ||
                (parts[0].startAddress == FAKE_CODE && parts[0].size == FAKE_CODE_SIZE));
    return count == 1;
}

static bool ask_function_at(void)
{
    FunctionID function = UNTOUCHED;
    ReJITID rejit = UNTOUCHED;
    bool known = info_function_at(fake_info(), FAKE_CODE, &function, &rejit);

    assert_int_equal(function, known ? FAKE_FUNCTION : UNTOUCHED);
    assert_int_equal(rejit, known ? 0 : UNTOUCHED);
    return known;
}

static bool ask_il_map(void)
{
    COR_DEBUG_IL_TO_NATIVE_MAP map[2];
    bool cut = true;
    size_t count = info_il_map(fake_info(), FAKE_CODE, map, 2, &cut);

    assert_in_range(count, 0, 2);
    assert_int_equal(cut, count > 0 && fake.fill == FAKE_ENDLESS);
    assert_true(count == 0 || map[0].nativeEndOffset == FAKE_CODE_SIZE);
    return count > 0;
}

static bool ask_class(void)
{
    ModuleID module = UNTOUCHED;
    mdTypeDef token = UNTOUCHED;
    bool known = info_class(fake_info(), 1, &module, &token);

    assert_int_equal(module, known ? FAKE_MODULE : UNTOUCHED);
    assert_int_equal(token, known ? FAKE_INNER_TYPE : UNTOUCHED);
    return known;
}

static bool ask_class_of_object(void)
{
    ClassID class_id = UNTOUCHED;
    bool known = info_class_of_object(fake_info(), 0x100, &class_id);

    assert_int_equal(class_id, known ? 0x108 : UNTOUCHED);
    return known;
}

static bool ask_os_thread(void)
{
    DWORD tid = UNTOUCHED;
    bool known = info_os_thread(fake_info(), 1, &tid);

    assert_int_equal(tid, known ? FAKE_OS_TID : UNTOUCHED);
    return known;
}

static bool ask_metadata(void)
{
    struct metadata_import *import = info_metadata(fake_info(), 1);

    if (import)
        (void)import->vtbl->Release(import);
    return import != NULL;
}

/* A name is whole, or filled to the last unit but the NUL. */
static void check_name(const struct info_name *name, const char *expected)
{
    if (fake.fill == FAKE_ENDLESS) {
        assert_int_equal(name->length, INFO_NAME_MAX - 1);
        assert_int_equal(name->units[name->length], 0);
        return;
    }
    assert_int_equal(name->length, strlen(expected));
    for (size_t i = 0; i < name->length; i++)
        assert_int_equal(name->units[i], expected[i]);
}

static bool ask_dynamic_function(void)
{
    struct info_name name;
    bool known = info_dynamic_function(fake_info(), 1, &name);

    if (known)
        check_name(&name, "made_at_run_time");
    return known;
}

static bool ask_assembly(void)
{
    struct info_name name;
    bool known = info_assembly(fake_info(), 1, &name);

    if (known)
        check_name(&name, "Assembly");
    return known;
}

static bool ask_session(void)
{
    COR_PRF_EVENTPIPE_PROVIDER_CONFIG config = { 0 };
    EVENTPIPE_SESSION session = UNTOUCHED;
    static const WCHAR name[] = { 'x', 0 };
    HRESULT hr = UNTOUCHED;
    bool known;

    config.providerName = name;
    known = info_start_session(fake_info(), &config, 1, &session, &hr);
    assert_int_equal(session, known ? FAKE_SESSION : UNTOUCHED);
    assert_int_equal(hr, fake.hr);
    return known;
}

static bool ask_provider(void)
{
    struct info_name name;
    bool known = info_provider(fake_info(), FAKE_OTHER_PROVIDER, &name);

    if (known)
        check_name(&name, "Some-Source");
    return known;
}

static struct metadata_import *import(void)
{
    HRESULT hr = fake.hr;
    enum fake_fill fill = fake.fill;
    struct metadata_import *import;

    fake.hr = S_OK;
    fake.fill = FAKE_FULL;
    import = info_metadata(fake_info(), 1);
    assert_non_null(import);
    fake.hr = hr;
    fake.fill = fill;
    fake.refs_out--;
    return import;
}

static bool ask_method(void)
{
    mdTypeDef type = UNTOUCHED;
    struct info_name name;
    bool known = metadata_method(import(), 1, &type, &name);

    if (known)
        check_name(&name, "Run");
    assert_int_equal(type, known ? FAKE_INNER_TYPE : UNTOUCHED);
    return known;
}

static bool ask_type(void)
{
    struct info_name name;
    bool nested = false;
    bool known = metadata_type(import(), FAKE_INNER_TYPE, &nested, &name);

    if (known)
        check_name(&name, "Inner");
    assert_int_equal(nested, known);
    return known;
}

static bool ask_enclosing(void)
{
    mdTypeDef type = UNTOUCHED;
    bool known = metadata_enclosing(import(), FAKE_INNER_TYPE, &type);

    assert_int_equal(type, known ? FAKE_OUTER_TYPE : UNTOUCHED);
    return known;
}

static const struct {
    const char *name;
    bool (*ask)(void);
    bool has_name;
} questions[] = {
    { "runtime", ask_runtime, false },
    { "function", ask_function, false },
    { "dynamic function", ask_dynamic_function, true },
    { "code", ask_code, false },
    { "code starts", ask_code_starts, false },
    { "code parts", ask_code_parts, false },
    { "function at an address", ask_function_at, false },
    { "IL map", ask_il_map, false },
    { "class", ask_class, false },
    { "class of object", ask_class_of_object, false },
    { "OS thread", ask_os_thread, false },
    { "assembly", ask_assembly, true },
    { "metadata", ask_metadata, false },
    { "session", ask_session, false },
    { "provider", ask_provider, true },
    { "method", ask_method, true },
    { "type", ask_type, true },
    { "enclosing type", ask_enclosing, false },
};

static void expect(HRESULT hr, enum fake_fill fill, bool usable)
{
    for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
        (void)fake_reset();
        fake.hr = hr;
        fake.fill = fill;
        if (questions[i].ask() != usable)
            fail_msg("%s: hr 0x%08x, fill %d: must %sbe usable", questions[i].name, (unsigned)hr,
                     fill, usable ? "" : "not ");
        assert_int_equal(fake.refs_out, 0);
    }
}

static void test_info_answer_that_is_good_is_used(void **state)
{
    (void)state;
    expect(S_OK, FAKE_FULL, true);
    expect(S_FALSE, FAKE_FULL, true);
    expect(HR(0x00131106), FAKE_FULL, true); /* CLDB_S_TRUNCATION is a success */
}

static void test_info_success_without_an_answer_is_no_answer(void **state)
{
    (void)state;
    expect(S_OK, FAKE_UNTOUCHED, false);
    expect(S_OK, FAKE_ZERO, false);
    expect(S_FALSE, FAKE_UNTOUCHED, false);
    expect(S_FALSE, FAKE_ZERO, false);
}

static void test_info_failure_with_filled_outs_is_no_answer(void **state)
{
    static const HRESULT failures[] = { E_FAIL,         E_NOINTERFACE,  CORPROF_E_DATAINCOMPLETE,
                                        HR(0x80131355), HR(0x80131363), HR(0x80131367),
                                        HR(0x8007007A), HR(0x80131350) };

    (void)state;
    for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
        expect(failures[i], FAKE_FULL, false);
        expect(failures[i], FAKE_UNTOUCHED, false);
        expect(failures[i], FAKE_ENDLESS, false);
    }
}

static void test_info_name_without_end_is_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
        (void)fake_reset();
        fake.fill = FAKE_ENDLESS;
        if (questions[i].has_name)
            assert_true(questions[i].ask());
    }
}

static bool ask_module(uintptr_t *base, AssemblyID *assembly, struct info_name *path)
{
    *base = *assembly = UNTOUCHED;
    return info_module(fake_info(), 1, base, assembly, path);
}

static void test_info_module_that_is_complete_tells_all(void **state)
{
    struct info_name path;
    AssemblyID assembly;
    uintptr_t base;

    (void)state;
    (void)fake_reset();
    assert_true(ask_module(&base, &assembly, &path));
    assert_int_equal(base, FAKE_BASE);
    assert_int_equal(assembly, FAKE_ASSEMBLY);
    check_name(&path, "/app/app.dll");
}

static void test_info_module_that_is_incomplete_has_a_name_only(void **state)
{
    struct info_name path;
    AssemblyID assembly;
    uintptr_t base;

    (void)state;
    (void)fake_reset();
    fake.hr = CORPROF_E_DATAINCOMPLETE;
    assert_true(ask_module(&base, &assembly, &path));
    assert_int_equal(base, 0);
    assert_int_equal(assembly, 0);
    check_name(&path, "/app/app.dll");
}

static void test_info_module_without_anything_is_a_nameless_one(void **state)
{
    static const enum fake_fill fills[] = { FAKE_UNTOUCHED, FAKE_ZERO };
    struct info_name path;
    AssemblyID assembly;
    uintptr_t base;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        (void)fake_reset();
        fake.fill = fills[i];
        assert_true(ask_module(&base, &assembly, &path));
        assert_int_equal(base, 0);
        assert_int_equal(assembly, 0);
        assert_int_equal(path.length, 0);
    }
    fake.hr = E_FAIL;
    assert_false(ask_module(&base, &assembly, &path));
}

static void test_info_object_that_is_null_has_no_class(void **state)
{
    ClassID class_id;

    (void)state;
    (void)fake_reset();
    assert_false(info_class_of_object(fake_info(), 0, &class_id));
}

static void test_info_newest_interface_is_taken(void **state)
{
    int version;

    (void)state;
    for (int newest = 8; newest <= 15; newest++) {
        void *unknown = fake_reset();

        fake.newest = newest;
        assert_ptr_equal(info_query(unknown, &version), fake_info());
        assert_int_equal(version, newest);
    }
}

static void test_info_interface_that_is_missing_or_null_is_refused(void **state)
{
    int version;

    (void)state;
    assert_null(info_query(NULL, &version));
    (void)fake_reset();
    fake.newest = 7;
    assert_null(info_query(fake_info(), &version));
    (void)fake_reset();
    fake.fill = FAKE_ZERO;
    assert_null(info_query(fake_info(), &version));
    fake.fill = FAKE_UNTOUCHED;
    assert_null(info_query(fake_info(), &version));
}

static bool count_until_limit(void *context, UINT_PTR id)
{
    unsigned *left = context;

    assert_true(id >= 0x9000);
    return --*left > 0;
}

static unsigned count_items(ULONG items, unsigned limit)
{
    unsigned left = limit;

    fake.items = items;
    info_each_module(fake_info(), count_until_limit, &left);
    assert_int_equal(fake.refs_out, 0);
    return limit - left;
}

static void test_info_enumeration_gives_each_item_once(void **state)
{
    static const ULONG counts[] = { 0, 1, 63, 64, 65, 128, 1000 };

    (void)state;
    (void)fake_reset();
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        assert_int_equal(count_items(counts[i], 5000), counts[i]);
}

static void test_info_enumeration_stops_when_told(void **state)
{
    (void)state;
    (void)fake_reset();
    assert_int_equal(count_items(1000, 1), 1);
    assert_int_equal(count_items(1000, 70), 70);
}

static void test_info_enumeration_that_claims_too_much_is_left(void **state)
{
    (void)state;
    (void)fake_reset();
    fake.claimed = 65;
    assert_int_equal(count_items(10, 5000), 0);
    fake.claimed = 0xffffffff;
    assert_int_equal(count_items(10, 5000), 0);
}

static void test_info_enumeration_that_fails_gives_nothing(void **state)
{
    (void)state;
    (void)fake_reset();
    fake.hr = E_FAIL;
    fake.fill = FAKE_ZERO;
    assert_int_equal(count_items(10, 5000), 0);
    fake.hr = S_OK;
    assert_int_equal(count_items(10, 5000), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_info_answer_that_is_good_is_used),
        cmocka_unit_test(test_info_success_without_an_answer_is_no_answer),
        cmocka_unit_test(test_info_failure_with_filled_outs_is_no_answer),
        cmocka_unit_test(test_info_name_without_end_is_cut),
        cmocka_unit_test(test_info_module_that_is_complete_tells_all),
        cmocka_unit_test(test_info_module_that_is_incomplete_has_a_name_only),
        cmocka_unit_test(test_info_module_without_anything_is_a_nameless_one),
        cmocka_unit_test(test_info_object_that_is_null_has_no_class),
        cmocka_unit_test(test_info_newest_interface_is_taken),
        cmocka_unit_test(test_info_interface_that_is_missing_or_null_is_refused),
        cmocka_unit_test(test_info_enumeration_gives_each_item_once),
        cmocka_unit_test(test_info_enumeration_stops_when_told),
        cmocka_unit_test(test_info_enumeration_that_claims_too_much_is_left),
        cmocka_unit_test(test_info_enumeration_that_fails_gives_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

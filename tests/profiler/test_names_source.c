/* Names that compilers make, and what the person had written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "names_source.h"

#define TYPES_MAX 8

struct example {
    const char *types; /* outermost first, each but the last with a + behind it */
    const char *method;
    const char *written; /* types+… . method . local */
    uint32_t form;
    bool has_builder;
};

static const struct example examples[] = {
    /* plain names stay */
    { "N.Worker", "Run", "N.Worker.Run", 0, false },
    { "N.Worker", ".ctor", "N.Worker..ctor", 0, false },
    { "N.Worker", "MoveNext", "N.Worker.MoveNext", 0, true },
    { "N.Outer+Inner", "MoveNext", "N.Outer+Inner.MoveNext", 0, true },
    { "", "Global", "Global", 0, false },
    { "<Module>", ".cctor", "<Module>..cctor", 0, false },
    { "N.Point", "<Clone>$", "N.Point.<Clone>$", 0, false },
    { "N.Program", "<Main>", "N.Program.<Main>", 0, false },
    /* state machines */
    { "N.Worker+<RunAsync>d__3", "MoveNext", "N.Worker.RunAsync", SOURCE_ASYNC, true },
    { "N.Worker+<Each>d__4", "MoveNext", "N.Worker.Each", SOURCE_ITERATOR, false },
    { "N.Worker+<RunAsync>d__3", "SetStateMachine", "N.Worker+<RunAsync>d__3.SetStateMachine", 0,
      true },
    { "N.Worker+<Each>d__4", ".ctor", "N.Worker+<Each>d__4..ctor", 0, false },
    { "N.List+<System.Collections.Generic.IEnumerable<T>.GetEnumerator>d__1", "MoveNext",
      "N.List.System.Collections.Generic.IEnumerable<T>.GetEnumerator", SOURCE_ITERATOR, false },
    { "N.Bag+<N-IBag<N-Item>-Each>d__1", "MoveNext", "N.Bag.N-IBag<N-Item>-Each", SOURCE_ITERATOR,
      false },
    { "N.Form+VB$StateMachine_12_Load_Data", "MoveNext", "N.Form.Load_Data", SOURCE_ASYNC, true },
    { "<Run>d__0", "MoveNext", "<Run>d__0.MoveNext", 0, true },
    /* lambdas */
    { "N.Worker+<>c", "<Run>b__0_0", "N.Worker.Run", SOURCE_LAMBDA, false },
    { "N.Worker+<>c__DisplayClass3_1", "<Run>b__2", "N.Worker.Run", SOURCE_LAMBDA, false },
    { "N.Worker", "<Run>b__5_0", "N.Worker.Run", SOURCE_LAMBDA, false },
    { "N.Worker+<>c", "<.ctor>b__0_0", "N.Worker..ctor", SOURCE_LAMBDA, false },
    { "N.Worker+<>c", "<get_Count>b__0_0", "N.Worker.get_Count", SOURCE_LAMBDA, false },
    { "N.Worker+<>c", ".cctor", "N.Worker+<>c..cctor", 0, false },
    { "N.Worker+<>c+<<Run>b__4_0>d", "MoveNext", "N.Worker.Run", SOURCE_LAMBDA | SOURCE_ASYNC,
      true },
    { "N.Worker+<>c__DisplayClass1_0+<<Run>b__0>d", "MoveNext", "N.Worker.Run",
      SOURCE_LAMBDA | SOURCE_ASYNC, true },
    /* local functions */
    { "N.Worker", "<Run>g__Add|0_1", "N.Worker.Run.Add", SOURCE_LOCAL, false },
    { "N.Worker+<>c__DisplayClass0_0", "<Run>g__Add|1", "N.Worker.Run.Add", SOURCE_LOCAL, false },
    { "N.Worker+<<Run>g__Add|0_1>d", "MoveNext", "N.Worker.Run.Add", SOURCE_LOCAL | SOURCE_ASYNC,
      true },
    { "N.Worker+<<Run>g__Each|0_1>d", "MoveNext", "N.Worker.Run.Each",
      SOURCE_LOCAL | SOURCE_ITERATOR, false },
    /* top-level statements */
    { "Program", "<Main>$", "Program.<Main>$", SOURCE_TOP_LEVEL, false },
    { "Program+<<Main>$>d__0", "MoveNext", "Program.<Main>$", SOURCE_TOP_LEVEL | SOURCE_ASYNC,
      true },
    { "Program+<>c", "<<Main>$>b__0_0", "Program.<Main>$", SOURCE_TOP_LEVEL | SOURCE_LAMBDA,
      false },
    { "Program", "<<Main>$>g__Add|0_0", "Program.<Main>$.Add", SOURCE_TOP_LEVEL | SOURCE_LOCAL,
      false },
    /* other letters than ASCII */
    { "N.\xc3\x9c+<\xe4\xb8\x96>d__0", "MoveNext", "N.\xc3\x9c.\xe4\xb8\x96", SOURCE_ASYNC, true },
    /* not quite such names */
    { "N.A", "<", "N.A.<", 0, false },
    { "N.A", "<>", "N.A.<>", 0, false },
    { "N.A", "<>b__0", "N.A.<>b__0", 0, false },
    { "N.A", "<Run", "N.A.<Run", 0, false },
    { "N.A", ">b__0", "N.A.>b__0", 0, false },
    { "N.A", "<Run>", "N.A.<Run>", 0, false },
    { "N.A", "<Run>g", "N.A.Run", SOURCE_LOCAL, false },
    { "N.A", "<Run>g__", "N.A.Run", SOURCE_LOCAL, false },
    { "N.A", "", "N.A.", 0, false },
    { "N.A+VB$StateMachine_", "MoveNext", "N.A+VB$StateMachine_.MoveNext", 0, true },
    { "N.A+VB$StateMachine_1_", "MoveNext", "N.A+VB$StateMachine_1_.MoveNext", 0, true },
};

static struct source_text text_of(const char *bytes)
{
    return (struct source_text){ bytes, strlen(bytes) };
}

static size_t split(const char *chain, struct source_text types[TYPES_MAX])
{
    size_t count = 0;

    while (*chain) {
        types[count++] = (struct source_text){ chain, strcspn(chain, "+") };
        chain += types[count - 1].size;
        chain += *chain == '+';
    }
    return count;
}

static void join(const struct source_text *types, const struct source_name *name, char *out,
                 size_t size)
{
    int used = 0;

    for (size_t i = 0; i < name->types; i++)
        used += snprintf(out + used, size - (size_t)used, "%.*s%s", (int)types[i].size,
                         types[i].bytes, i + 1 < name->types ? "+" : ".");
    used += snprintf(out + used, size - (size_t)used, "%.*s", (int)name->method.size,
                     name->method.bytes);
    if (name->local.size > 0)
        (void)snprintf(out + used, size - (size_t)used, ".%.*s", (int)name->local.size,
                       name->local.bytes);
}

static void test_names_of_compilers_become_those_of_the_source(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        const struct example *example = &examples[i];
        struct source_text types[TYPES_MAX];
        size_t count = split(example->types, types);
        struct source_name name;
        char written[256];

        names_source(types, count, text_of(example->method), example->has_builder, &name);
        join(types, &name, written, sizeof(written));
        assert_string_equal(written, example->written);
        assert_int_equal(name.form, example->form);
        assert_int_equal(name.dashed, (name.form & (SOURCE_ASYNC | SOURCE_ITERATOR)) != 0);
    }
}

/* Nothing is read behind a name that has no NUL, wherever it ends. */
static void test_every_beginning_of_a_name_is_a_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
        for (size_t size = 0; size <= strlen(examples[i].method); size++) {
            char *exact = test_malloc(size + 1);
            struct source_text types[TYPES_MAX], method = { exact + 1, size };
            size_t count = split(examples[i].types, types);
            struct source_name name;

            memcpy(exact + 1, examples[i].method, size);
            names_source(types, count, method, false, &name);
            assert_true(name.types <= count);
            (void)names_source_type(method, &name.local);
            test_free(exact);
        }
}

static void check_type(const char *type, const char *expected)
{
    struct source_text space, written = names_source_type(text_of(type), &space);

    assert_int_equal(space.size + written.size, strlen(expected));
    assert_memory_equal(space.bytes, expected, space.size);
    assert_memory_equal(written.bytes, expected + space.size, written.size);
}

static void test_type_of_a_file_is_named_without_it(void **state)
{
    (void)state;
    check_type("N.Worker", "N.Worker");
    check_type("<Program>F0123456789ABCDEF__Helper", "Helper");
    check_type("N.M.<Program>F01__Helper", "N.M.Helper");
    check_type("N.M<Program>F01__Helper", "N.M<Program>F01__Helper");
    check_type("<Program>F01__Helper__Two", "Helper__Two");
    check_type("<Program>F01__", "<Program>F01__");
    check_type("<Program>F01", "<Program>F01");
    check_type("<>f__AnonymousType0", "<>f__AnonymousType0");
    check_type("<PrivateImplementationDetails>", "<PrivateImplementationDetails>");
    check_type("", "");
}

static void check_arity(const char *type, const char *expected, unsigned expected_arity)
{
    unsigned arity = 77;
    struct source_text name = names_source_arity(text_of(type), &arity);

    assert_int_equal(arity, expected_arity);
    assert_int_equal(name.size, strlen(expected));
    assert_memory_equal(name.bytes, expected, name.size);
}

static void test_arity_is_told_apart_from_the_name(void **state)
{
    (void)state;
    check_arity("N.Box`1", "N.Box", 1);
    check_arity("N.Box`12", "N.Box", 12);
    check_arity("N.Box", "N.Box", 0);
    check_arity("N.Box1", "N.Box1", 0);
    check_arity("N.Box`", "N.Box`", 0);
    check_arity("`1", "`1", 0);
    check_arity("N.Box`99999999999999999999", "N.Box`99999999999999999999", 0);
    check_arity("", "", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_of_compilers_become_those_of_the_source),
        cmocka_unit_test(test_every_beginning_of_a_name_is_a_name),
        cmocka_unit_test(test_type_of_a_file_is_named_without_it),
        cmocka_unit_test(test_arity_is_told_apart_from_the_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

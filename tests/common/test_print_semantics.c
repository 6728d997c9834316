/*
 * The evaluator against the C compiler: thousands of random print-format expressions over fields of
 * every width and sign are compiled into a program, and what it prints must be what trd_event_print
 * prints for the same bytes. Run as `test_print_semantics`, for machines whose long has 8 bytes,
 * and as `test_print_semantics 32`, for 4.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tracefs_instance.h"
#include "tracerd/catalog.h"

#define EXPRESSIONS 4000
#define RECORDS 6
#define DEPTH_MAX 5
#define TEXT_MAX 8192
#define SEED 20261201u

struct __attribute__((packed)) record {
    uint16_t common_type;
    uint8_t common_flags;
    uint8_t common_preempt_count;
    int32_t common_pid;
    int8_t a;
    uint8_t b;
    int16_t c;
    uint16_t d;
    uint16_t padding;
    int32_t e;
    uint32_t f;
    int64_t g;
    uint64_t h;
    int16_t array[4];
};

static const char fields[] = "name: made\nID: 7\nformat:\n"
                             "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                             "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
                             "\tfield:s8 a;\toffset:8;\tsize:1;\tsigned:1;\n"
                             "\tfield:u8 b;\toffset:9;\tsize:1;\tsigned:0;\n"
                             "\tfield:short c;\toffset:10;\tsize:2;\tsigned:1;\n"
                             "\tfield:unsigned short d;\toffset:12;\tsize:2;\tsigned:0;\n"
                             "\tfield:int e;\toffset:16;\tsize:4;\tsigned:1;\n"
                             "\tfield:u32 f;\toffset:20;\tsize:4;\tsigned:0;\n"
                             "\tfield:s64 g;\toffset:24;\tsize:8;\tsigned:1;\n"
                             "\tfield:u64 h;\toffset:32;\tsize:8;\tsigned:0;\n"
                             "\tfield:short array[4];\toffset:40;\tsize:8;\tsigned:1;\n\n";

static uint32_t random_state = SEED;

static uint32_t next_random(uint32_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state % below;
}

#define PICK(list) (list)[next_random(sizeof(list) / sizeof((list)[0]))]

struct text {
    char bytes[TEXT_MAX];
    size_t size;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    text->size +=
        (size_t)vsnprintf(text->bytes + text->size, TEXT_MAX - text->size, format, arguments);
    va_end(arguments);
    if (text->size >= TEXT_MAX)
        abort();
}

static const char *const types[] = { "u8",   "s8",   "u16", "s16",           "u32",
                                     "s32",  "u64",  "s64", "unsigned long", "long",
                                     "bool", "char", "int", "unsigned int",  "long long" };

static void put_leaf(struct text *text)
{
    static const char *const leaves[] = { "REC->a",      "REC->b",
                                          "REC->c",      "(REC)->d",
                                          "REC->e",      "((REC)->f)",
                                          "REC->g",      "REC->h",
                                          "0",           "1",
                                          "0x80",        "255",
                                          "017",         "0x7fffffff",
                                          "2147483648",  "0xffffffff",
                                          "-1",          "1U",
                                          "3UL",         "0x10000ULL",
                                          "-5L",         "'A'",
                                          "'\\xff'",     "'\\n'",
                                          "~0UL",        "0xffffffffff",
                                          "sizeof(int)", "sizeof(REC->h)" };

    if (next_random(12) == 0)
        put(text, "REC->array[%u]", next_random(4));
    else if (next_random(12) == 0)
        put(text, "sizeof(%s)", PICK(types));
    else
        put(text, "%s", PICK(leaves));
}

static void put_expression(struct text *text, int depth);

/* Neither by zero nor by -1, where the hardware traps; that has a test of its own. */
static void put_division(struct text *text, int depth)
{
    struct text divisor = { .size = 0 };

    put_expression(&divisor, depth < 2 ? depth : 2);
    put(text, "((%s) == 0 || (%s) == -1 ? 7 : (", divisor.bytes, divisor.bytes);
    put_expression(text, depth);
    put(text, ") %c (%s))", next_random(2) ? '/' : '%', divisor.bytes);
}

static void put_shift(struct text *text, int depth)
{
    put(text, "((");
    put_expression(text, depth);
    put(text, ") %s ((", next_random(2) ? "<<" : ">>");
    put_expression(text, depth < 2 ? depth : 2);
    put(text, ") & 31))");
}

/* Without parentheses in half of the cases: precedence and associativity are tested too. */
static void put_binary(struct text *text, int depth)
{
    static const char *const operators[] = { "+", "-",  "*",  "&",  "|",  "^",  "<",
                                             ">", "<=", ">=", "==", "!=", "&&", "||" };
    bool parentheses = next_random(2);

    put(text, parentheses ? "(" : "");
    put_expression(text, depth);
    put(text, " %s ", PICK(operators));
    put_expression(text, depth);
    put(text, parentheses ? ")" : "");
}

static void put_ternary(struct text *text, int depth)
{
    put(text, "(");
    put_expression(text, depth);
    put(text, " ? ");
    put_expression(text, depth);
    put(text, " : ");
    put_expression(text, depth);
    put(text, ")");
}

static void put_unary(struct text *text, int depth)
{
    static const char *const operators[] = { "-", "~", "!", "!!", "+" };

    if (next_random(2))
        put(text, "(%s)(", PICK(types));
    else
        put(text, "%s(", PICK(operators));
    put_expression(text, depth);
    put(text, ")");
}

static void put_gnu(struct text *text, int depth)
{
    switch (next_random(3)) {
    case 0:
        put(text, "({ %s x = (", PICK(types));
        put_expression(text, depth);
        put(text, "); x < 7 ? x : x / 2; })");
        break;
    case 1:
        put(text, "__builtin_expect(");
        put_expression(text, depth);
        put(text, ", 0)");
        break;
    default:
        put(text, "(");
        put_expression(text, depth);
        put(text, " ?: ");
        put_expression(text, depth);
        put(text, ")");
        break;
    }
}

static void put_expression(struct text *text, int depth)
{
    if (depth <= 0 || next_random(8) == 0) {
        put_leaf(text);
        return;
    }
    switch (next_random(10)) {
    case 0:
        put_division(text, depth - 1);
        break;
    case 1:
        put_shift(text, depth - 1);
        break;
    case 2:
        put_ternary(text, depth - 1);
        break;
    case 3:
    case 4:
        put_unary(text, depth - 1);
        break;
    case 5:
        put_gnu(text, depth - 1);
        break;
    default:
        put_binary(text, depth - 1);
        break;
    }
}

static void make_records(struct record *records)
{
    static const uint64_t edges[] = { 0,
                                      1,
                                      0x7f,
                                      0x80,
                                      0xff,
                                      0x7fff,
                                      0x8000,
                                      0x7fffffff,
                                      0x80000000,
                                      0xffffffff,
                                      0x7fffffffffffffff,
                                      0x8000000000000000,
                                      UINT64_MAX,
                                      UINT64_MAX - 5 };

    for (int i = 0; i < RECORDS; i++) {
        struct record *record = &records[i];

        *record = (struct record){ .common_type = 7 };
        record->a = (int8_t)PICK(edges);
        record->b = (uint8_t)PICK(edges);
        record->c = (int16_t)PICK(edges);
        record->d = (uint16_t)PICK(edges);
        record->e = (int32_t)PICK(edges);
        record->f = (uint32_t)PICK(edges);
        record->g = (int64_t)PICK(edges);
        record->h = PICK(edges);
        for (int j = 0; j < 4; j++)
            record->array[j] = (int16_t)PICK(edges);
    }
}

/* A program without any library, so that 4-byte longs need no 32-bit libc. */
static const char prologue[] =
    "typedef signed char s8; typedef unsigned char u8; typedef short s16;\n"
    "typedef unsigned short u16; typedef int s32; typedef unsigned int u32;\n"
    "typedef long long s64; typedef unsigned long long u64;\n"
    "#define bool _Bool\n"
    "struct __attribute__((packed)) record { u16 type; u16 x; s32 pid; s8 a; u8 b; s16 c; u16 d;\n"
    "  u16 y; s32 e; u32 f; s64 g; u64 h; s16 array[4]; };\n"
    "extern const u8 bytes[];\n"
    "static long out(const char *text, long size) { long result;\n"
    "#ifdef __i386__\n"
    "  __asm__ volatile(\"int $0x80\" : \"=a\"(result) : \"a\"(4), \"b\"(1), \"c\"(text), "
    "\"d\"(size) : \"memory\");\n"
    "#else\n"
    "  __asm__ volatile(\"syscall\" : \"=a\"(result) : \"a\"(1L), \"D\"(1L), \"S\"(text), "
    "\"d\"(size) : \"rcx\", \"r11\", \"memory\");\n"
    "#endif\n"
    "  return result; }\n"
    "static void leave(void) {\n"
    "#ifdef __i386__\n"
    "  __asm__ volatile(\"int $0x80\" : : \"a\"(1), \"b\"(0));\n"
    "#else\n"
    "  __asm__ volatile(\"syscall\" : : \"a\"(60L), \"D\"(0L));\n"
    "#endif\n"
    "}\n"
    "#ifdef __i386__\n"
    "static u64 divide(u64 a, u64 b, u64 *rest) { u64 q = 0, r = 0;\n"
    "  for (int i = 63; i >= 0; i--) { u64 top = r >> 63; r = r << 1 | (a >> i & 1);\n"
    "    if (top || r >= b) { r -= b; q |= 1ULL << i; } } *rest = r; return q; }\n"
    "u64 __udivdi3(u64 a, u64 b) { u64 r; return divide(a, b, &r); }\n"
    "u64 __umoddi3(u64 a, u64 b) { u64 r; divide(a, b, &r); return r; }\n"
    "s64 __divdi3(s64 a, s64 b) { u64 r, q = divide(a < 0 ? -(u64)a : a, b < 0 ? -(u64)b : b, "
    "&r);\n"
    "  return (a < 0) != (b < 0) ? -q : q; }\n"
    "s64 __moddi3(s64 a, s64 b) { u64 r; divide(a < 0 ? -(u64)a : a, b < 0 ? -(u64)b : b, &r);\n"
    "  return a < 0 ? -r : r; }\n"
    "#endif\n";

static const char epilogue[] =
    "static char text[17];\n"
    "void _start(void) { for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++)\n"
    "  for (int r = 0; r < RECORDS; r++) {\n"
    "    u64 v = table[i]((const struct record *)(bytes + r * sizeof(struct record)));\n"
    "    for (int d = 15; d >= 0; d--, v >>= 4) text[d] = \"0123456789abcdef\"[v & 15];\n"
    "    text[16] = '\\n'; out(text, 17); }\n"
    "  leave(); }\n";

static int write_program(const char *path, char **expressions, const struct record *records)
{
    const uint8_t *bytes = (const uint8_t *)records;
    FILE *file = fopen(path, "w");

    if (!file)
        return -errno;
    fprintf(file, "#define RECORDS %d\n%s", RECORDS, prologue);
    for (int i = 0; i < EXPRESSIONS; i++)
        fprintf(file,
                "static u64 e%d(const struct record *REC) { return (unsigned long long)(%s); }\n",
                i, expressions[i]);
    fprintf(file, "static u64 (*const table[])(const struct record *) = {");
    for (int i = 0; i < EXPRESSIONS; i++)
        fprintf(file, "e%d,", i);
    fprintf(file, "};\nconst u8 bytes[] = {");
    for (size_t i = 0; i < RECORDS * sizeof(struct record); i++)
        fprintf(file, "%u,", bytes[i]);
    fprintf(file, "};\n%s", epilogue);
    return fclose(file) == 0 ? 0 : -errno;
}

/* What the compiler's program prints; NULL if it cannot be built or run here. */
static char *run_program(char **expressions, const struct record *records, bool narrow)
{
    char folder[] = "/tmp/tracerd-test-semantics-XXXXXX", path[64], command[512];
    char *output = NULL;

    if (!mkdtemp(folder))
        return NULL;
    (void)snprintf(path, sizeof(path), "%s/program.c", folder);
    /* The kernel is built with wrapping arithmetic too. */
    (void)snprintf(command, sizeof(command),
                   "cc %s -w -O0 -fwrapv -ffreestanding -nostdlib -static -fno-pie -no-pie "
                   "-fno-stack-protector -o %s/program %s && %s/program > %s/output",
                   narrow ? "-m32" : "-m64", folder, path, folder, folder);
    if (write_program(path, expressions, records) == 0 && system(command) == 0) {
        (void)snprintf(path, sizeof(path), "%s/output", folder);
        output = read_whole(path, NULL);
    }
    (void)snprintf(command, sizeof(command), "rm -r %s", folder);
    (void)system(command);
    return output;
}

/* Differences between our text and the program's for one expression. */
static int compare(const char *expression, const struct record *records, const char *output,
                   uint8_t long_size)
{
    struct trd_catalog *catalog;
    const struct trd_schema *schema;
    char format[TEXT_MAX + sizeof(fields) + 128], ours[64];
    int size =
        snprintf(format, sizeof(format), "%sprint fmt: \"%%016llx\", (unsigned long long)(%s)\n",
                 fields, expression);
    int differences = 0;

    if (trd_catalog_create(&catalog, false, long_size) != 0 ||
        trd_catalog_add_format(catalog, "test", format, (size_t)size) != 0)
        return 1;
    schema = trd_catalog_find(catalog, 7);
    for (int i = 0; i < RECORDS && differences == 0; i++, output += 17) {
        (void)trd_event_print(catalog, schema, (const uint8_t *)&records[i], sizeof(records[i]),
                              ours, sizeof(ours));
        if (strlen(ours) == 16 && memcmp(ours, output, 16) == 0)
            continue;
        differences++;
        printf("%s\n  compiler: %.16s\n  ours:     %s\n  %s\n", expression, output, ours,
               schema->print_error ? schema->print_error : "");
    }
    trd_catalog_destroy(catalog);
    return differences;
}

int main(int argc, char **argv)
{
    bool narrow = argc > 1 && strcmp(argv[1], "32") == 0;
    struct record records[RECORDS];
    char **expressions = calloc(EXPRESSIONS, sizeof(*expressions));
    int differences = 0;
    char *output;

    make_records(records);
    for (int i = 0; i < EXPRESSIONS; i++) {
        struct text text = { .size = 0 };

        put_expression(&text, 1 + (int)next_random(DEPTH_MAX));
        expressions[i] = strdup(text.bytes);
    }
    output = run_program(expressions, records, narrow);
    if (!output || strlen(output) != (size_t)EXPRESSIONS * RECORDS * 17) {
        printf("SKIP: a C compiler that makes and runs %d-bit programs\n", narrow ? 32 : 64);
        return tracefs_skip_code();
    }
    for (int i = 0; i < EXPRESSIONS; i++) {
        differences +=
            compare(expressions[i], records, output + (size_t)i * RECORDS * 17, narrow ? 4 : 8);
        free(expressions[i]);
    }
    printf("%d expressions on %d records, %d-bit long: %d differ\n", EXPRESSIONS, RECORDS,
           narrow ? 32 : 64, differences);
    free(expressions);
    free(output);
    return differences == 0 ? 0 : 1;
}

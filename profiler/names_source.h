/*
 * From the names that compilers give to what the person wrote, and back to those: lambdas, local
 * functions and the state machines of async methods and iterators live in types and methods of
 * their own, whose names hold the written one in angle brackets. Pure: text in, pieces of it out.
 *
 *   Worker+<RunAsync>d__3.MoveNext                Worker.RunAsync            async or iterator
 *   Program+<>c.<Main>b__0_1                      Program.Main               lambda
 *   Program+<>c__DisplayClass2_0.<Main>g__Add|0   Program.Main.Add           local
 *   Program+<<Main>$>d__0.MoveNext                Program.<Main>$            async, top level
 *   Program+<>c+<<Run>b__4_0>d.MoveNext           Program.Run                async, lambda
 *   <Program>F0A1…__Helper.Do                     Helper.Do                  of a file-local type
 *
 * Source: GeneratedNames of the C# compiler (Roslyn), "StateMachine" of the Visual Basic one.
 */
#ifndef TRD_PROFILER_NAMES_SOURCE_H
#define TRD_PROFILER_NAMES_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values of the table method_form in names.def. */
enum source_form {
    SOURCE_ASYNC = 0x1,
    SOURCE_ITERATOR = 0x2,
    SOURCE_LAMBDA = 0x4,
    SOURCE_LOCAL = 0x8,
    SOURCE_TOP_LEVEL = 0x10,
    SOURCE_DYNAMIC = 0x20, /* not from a name: made at run time */
};

/* UTF-8, no NUL promised. */
struct source_text {
    const char *bytes;
    size_t size;
};

struct source_name {
    size_t types;              /* as many of the types, from the outermost in, were written */
    struct source_text method; /* a piece of what was given */
    struct source_text local;  /* the local function in it; size 0 if it is none */
    uint32_t form;             /* SOURCE_… */
    /* The method's dots stand as dashes, which no name has: it was taken from a type, whose own
     * name begins behind its last dot. */
    bool dashed;
};

/*
 * `types`: the type and those around it, outermost first, without their arity (`1); `count` may be
 * 0. `is_async`: the innermost has the method SetStateMachine, which iterators have not.
 */
void names_source(const struct source_text *types, size_t count, struct source_text method,
                  bool is_async, struct source_name *out);

/* The type as it was written: without the file's name before a file-local one. *out_space is what
 * goes before it, the namespace with its dot, where something was left out between the two. */
struct source_text names_source_type(struct source_text type, struct source_text *out_space);

/* Type`2 → Type, and 2; 0 if there is no such end. */
struct source_text names_source_arity(struct source_text type, unsigned *out_arity);

#endif

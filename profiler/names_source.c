#include "names_source.h"

#include <string.h>

#define STATE_MACHINE_VB "VB$StateMachine_"
#define CLOSURE_VB "_Closure$__"
#define CLOSURE "<>c"
#define ARITY_MAX 1000 /* what is more is no arity, but a strange name */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool starts_with(struct source_text text, const char *start)
{
    size_t size = strlen(start);

    return text.size >= size && memcmp(text.bytes, start, size) == 0;
}

static bool equals(struct source_text text, const char *other)
{
    return text.size == strlen(other) && starts_with(text, other);
}

static struct source_text from(struct source_text text, size_t start)
{
    return (struct source_text){ text.bytes + start, text.size - start };
}

/*
 * <Inner>kRest: Inner may hold brackets of its own, of another such name or of type arguments in
 * the name of an interface that it implements.
 */
static bool is_generated(struct source_text text, char kind, struct source_text *out_inner,
                         struct source_text *out_rest)
{
    size_t depth = 0;

    if (!starts_with(text, "<"))
        return false;
    for (size_t i = 0; i < text.size; i++) {
        depth += text.bytes[i] == '<';
        if (text.bytes[i] == '>')
            depth--;
        if (depth > 0)
            continue;
        if (i < 2 || i + 1 >= text.size || text.bytes[i + 1] != kind)
            return false;
        *out_inner = (struct source_text){ text.bytes + 1, i - 1 };
        *out_rest = from(text, i + 2);
        return true;
    }
    return false;
}

/* VB$StateMachine_3_RunAsync → RunAsync */
static bool is_state_machine_vb(struct source_text type, struct source_text *out_inner)
{
    size_t at = strlen(STATE_MACHINE_VB);

    if (!starts_with(type, STATE_MACHINE_VB))
        return false;
    while (at < type.size && is_digit(type.bytes[at]))
        at++;
    if (at + 1 >= type.size || type.bytes[at] != '_')
        return false;
    *out_inner = from(type, at + 1);
    return true;
}

static bool is_state_machine(struct source_text type, struct source_text *out_inner)
{
    struct source_text rest;

    return is_generated(type, 'd', out_inner, &rest) || is_state_machine_vb(type, out_inner);
}

/* Add|0_1 behind the two underlines. */
static struct source_text local_of(struct source_text rest)
{
    struct source_text name = starts_with(rest, "__") ? from(rest, 2) : rest;
    const char *bar = memchr(name.bytes, '|', name.size);

    if (bar)
        name.size = (size_t)(bar - name.bytes);
    return name;
}

static bool is_closure(struct source_text type)
{
    return starts_with(type, CLOSURE) || starts_with(type, CLOSURE_VB);
}

void names_source(const struct source_text *types, size_t count, struct source_text method,
                  bool is_async, struct source_name *out)
{
    struct source_text inner, rest;

    *out = (struct source_name){ .types = count, .method = method };
    if (out->types > 1 && equals(method, "MoveNext") &&
        is_state_machine(types[out->types - 1], &inner)) {
        out->form |= is_async ? SOURCE_ASYNC : SOURCE_ITERATOR;
        out->method = inner;
        out->dashed = true;
        out->types--;
    }
    if (is_generated(out->method, 'b', &inner, &rest)) {
        out->form |= SOURCE_LAMBDA;
        out->method = inner;
    } else if (is_generated(out->method, 'g', &inner, &rest)) {
        out->form |= SOURCE_LOCAL;
        out->method = inner;
        out->local = local_of(rest);
    }
    if (equals(out->method, "<Main>$"))
        out->form |= SOURCE_TOP_LEVEL;
    /* Those of its variables; methods of the closure itself (its constructor) stay in it. */
    while (out->form && out->types > 1 && is_closure(types[out->types - 1]))
        out->types--;
}

struct source_text names_source_type(struct source_text type, struct source_text *out_space)
{
    const char *bracket = memchr(type.bytes, '<', type.size);
    size_t space = bracket ? (size_t)(bracket - type.bytes) : 0;
    struct source_text inner, rest;

    *out_space = (struct source_text){ type.bytes, 0 };
    if (!bracket || (space > 0 && type.bytes[space - 1] != '.') ||
        !is_generated(from(type, space), 'F', &inner, &rest))
        return type;
    for (size_t i = 0; i + 2 < rest.size; i++)
        if (rest.bytes[i] == '_' && rest.bytes[i + 1] == '_') {
            out_space->size = space;
            return from(rest, i + 2);
        }
    return type;
}

struct source_text names_source_arity(struct source_text type, unsigned *out_arity)
{
    size_t digits = type.size;
    unsigned arity = 0;

    *out_arity = 0;
    while (digits > 0 && is_digit(type.bytes[digits - 1]))
        digits--;
    if (digits == type.size || digits < 2 || type.bytes[digits - 1] != '`')
        return type;
    for (size_t i = digits; i < type.size; i++) {
        arity = 10 * arity + (unsigned)(type.bytes[i] - '0');
        if (arity > ARITY_MAX)
            return type;
    }
    *out_arity = arity;
    type.size = digits - 1;
    return type;
}

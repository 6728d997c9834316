/* The value lists of __print_flags and __print_symbolic: `, { value, "name" }, …`. */
#include <string.h>

#include "print_parse.h"

/* Names of one value list; the longest of 6.18 has some 100. */
#define LIST_MAX 1024

struct list {
    struct trd_name *entries; /* in the arena */
    uint32_t count;
    uint32_t capacity;
};

static bool list_add(struct parser *parser, struct list *list, uint64_t value, const char *name)
{
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity ? list->capacity * 2 : 16;
        struct trd_name *entries =
            capacity <= LIST_MAX ? print_arena_take(parser->tree.arena, capacity * sizeof(*entries))
                                 : NULL;

        if (!entries)
            return parse_fail(parser, "list too long at", &parser->lexer.token);
        if (list->count > 0)
            memcpy(entries, list->entries, list->count * sizeof(*entries));
        list->entries = entries;
        list->capacity = capacity;
    }
    list->entries[list->count++] = (struct trd_name){ value, name };
    return true;
}

/* The value of an entry, or NULL after noting that nobody can tell it. */
static const struct node *parse_entry_value(struct parser *parser)
{
    struct lexer begin = parser->lexer;
    const struct node *value = parse_expression(parser);

    if (value && value->kind == NODE_CONST)
        return value;
    if (!parser->gap[0] && parser->error[0])
        memcpy(parser->gap, parser->error, sizeof(parser->gap));
    parse_gap(parser, "no constant:", &begin.token);
    parser->error[0] = '\0';
    parser->tree.error = NULL;
    parser->lexer = begin;
    parse_skip(parser);
    return NULL;
}

/* `{ value, "name" }`. A value nobody can tell costs this entry only. */
static bool parse_entry(struct parser *parser, struct list *list)
{
    const struct node *value, *name;

    if (!parse_expect(parser, '{'))
        return false;
    if (parse_take(parser, '}')) /* the end of a list that is empty on this architecture */
        return true;
    value = parse_entry_value(parser);
    if (!parse_expect(parser, ','))
        return false;
    if (parser->lexer.token.kind != TOKEN_STRING) { /* `{ -1, NULL }` ends a list */
        parse_skip(parser);
        return parse_expect(parser, '}');
    }
    name = parse_string(parser);
    if (!name || !parse_expect(parser, '}'))
        return false;
    return !value || list_add(parser, list, value->bits, name->string.text);
}

const struct trd_names *parse_list(struct parser *parser)
{
    struct trd_names *names = print_arena_take(parser->tree.arena, sizeof(*names));
    struct list list = { 0 };

    while (parse_take(parser, ',')) {
        if (token_is(&parser->lexer.token, ')'))
            break;
        if (!parse_entry(parser, &list))
            return NULL;
    }
    if (!names)
        return parse_fail(parser, "too large at", &parser->lexer.token);
    *names = (struct trd_names){ list.entries, list.count, UINT64_MAX };
    return names;
}

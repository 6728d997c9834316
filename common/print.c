#include "print.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print_parse.h"

#define SOURCE_SHOWN_MAX 60
/* The longest format of 6.18 has some 60 conversions. */
#define PIECES_MAX 1024

struct compiler {
    struct parser parser;
    struct trd_print_format *format;
    uint32_t argument;                  /* number of the current one, from 1 */
    uint32_t problem_count;             /* arguments that are not complete */
    char problem[PARSE_ERROR_MAX + 32]; /* the first */
};

static void note_problem(struct compiler *compiler, const char *what)
{
    char *text = compiler->problem;

    if (compiler->problem_count++ > 0)
        return;
    if (compiler->argument > 0)
        (void)snprintf(text, sizeof(compiler->problem), "argument %u: %s", compiler->argument,
                       what);
    else
        (void)snprintf(text, sizeof(compiler->problem), "%s", what);
}

/* What stands for an argument without a tree: `<its source>`. */
static void show_source(struct compiler *compiler, struct print_piece *piece, const char *source,
                        size_t size)
{
    char text[SOURCE_SHOWN_MAX + 8];
    struct node *node;
    bool cut = size > SOURCE_SHOWN_MAX;

    while (size > 0 && (source[size - 1] == ' ' || source[size - 1] == '\n'))
        size--;
    (void)snprintf(text, sizeof(text), "<%.*s%s>", cut ? SOURCE_SHOWN_MAX : (int)size, source,
                   cut ? "…" : "");
    node = node_string(&compiler->parser.tree, text, strlen(text));
    piece->argument = NULL;
    piece->text = node ? node->string.text : "";
    piece->text_size = node ? node->string.size : 0;
}

/* NULL after noting why and, for the argument of a conversion itself, showing its source. */
static const struct node *next_argument(struct compiler *compiler, struct print_piece *piece)
{
    struct parser *parser = &compiler->parser;
    const struct node *node = NULL;
    const char *source;

    compiler->argument++;
    parser->error[0] = parser->gap[0] = '\0';
    parser->tree.error = NULL;
    parser->local_count = parser->depth = 0;
    if (!parse_take(parser, ',')) {
        note_problem(compiler, "missing");
        show_source(compiler, piece, "missing", 7);
        return NULL;
    }
    source = parser->lexer.token.text;
    node = parse_expression(parser);
    if (node && parser->lexer.token.kind != TOKEN_END && !token_is(&parser->lexer.token, ','))
        node = parse_fail(parser, "unexpected", &parser->lexer.token);
    if (!node) {
        /* Brackets the parser is inside of must close again: start over. */
        parser->lexer.at = source;
        lexer_next(&parser->lexer);
        parse_skip(parser);
        note_problem(compiler, parser->error);
        show_source(compiler, piece, source, (size_t)(parser->lexer.token.text - source));
    } else if (parser->gap[0]) {
        note_problem(compiler, parser->gap);
    }
    return node;
}

static void fill_piece(struct compiler *compiler, struct print_piece *piece, unsigned stars)
{
    struct print_piece ignored;
    char what[64];

    if (stars & 1)
        piece->width_argument = next_argument(compiler, &ignored);
    if (stars & 2)
        piece->precision_argument = next_argument(compiler, &ignored);
    piece->argument = next_argument(compiler, piece);
    if (piece->conversion == 'p' && !pointer_is_known(piece->extension)) {
        (void)snprintf(what, sizeof(what), "only the kernel can print `%%p%s`", piece->extension);
        note_problem(compiler, what);
    }
}

static size_t count_pieces(const char *at, const char *end)
{
    size_t count = 1;

    for (; at < end; at++)
        count += 2 * (*at == '%');
    return count;
}

static int compile_pieces(struct compiler *compiler, const struct node *text)
{
    struct trd_print_format *format = compiler->format;
    const char *at = text->string.text, *end = at + text->string.size;
    size_t capacity = count_pieces(at, end);
    struct print_piece piece;
    unsigned stars;

    if (capacity > PIECES_MAX) {
        note_problem(compiler, "too many conversions");
        return 0;
    }
    format->pieces = print_arena_take(format->arena, capacity * sizeof(*format->pieces));
    if (!format->pieces)
        return -ENOMEM;
    while (piece_next(&at, end, compiler->parser.tree.long_size, &piece, &stars)) {
        if (piece.conversion)
            fill_piece(compiler, &piece, stars);
        format->pieces[format->count++] = piece;
    }
    return 0;
}

static const char *problem_text(struct compiler *compiler)
{
    char text[sizeof(compiler->problem) + 32];
    struct node *node;

    if (compiler->problem_count == 0)
        return NULL;
    if (compiler->problem_count > 1)
        (void)snprintf(text, sizeof(text), "%s (and %u more)", compiler->problem,
                       compiler->problem_count - 1);
    else
        (void)snprintf(text, sizeof(text), "%s", compiler->problem);
    node = node_string(&compiler->parser.tree, text, strlen(text));
    return node ? node->string.text : "too large";
}

int print_compile(const struct trd_catalog *catalog, struct trd_schema *schema,
                  struct trd_field *fields)
{
    struct trd_print_format *format = calloc(1, sizeof(*format));
    struct compiler compiler = { .format = format };
    struct parser *parser = &compiler.parser;
    const struct node *text;
    int result = 0;

    if (!format || !(format->arena = print_arena_create())) {
        free(format);
        return -ENOMEM;
    }
    schema->print_format = format;
    if (!schema->print_text[0])
        return 0;
    parser->tree = (struct tree){ .arena = format->arena, .long_size = schema->long_size };
    parser->catalog = catalog;
    parser->schema = schema;
    lexer_init(&parser->lexer, schema->print_text, strlen(schema->print_text));
    text = parse_string(parser);
    if (text)
        result = compile_pieces(&compiler, text);
    else
        note_problem(&compiler, "no format string");
    schema->print_error = problem_text(&compiler);
    print_meanings(format, schema, fields);
    return result;
}

void print_destroy(const struct trd_print_format *format)
{
    if (!format)
        return;
    print_arena_destroy(format->arena);
    free((struct trd_print_format *)format);
}

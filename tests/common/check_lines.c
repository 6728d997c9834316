/*
 * check_lines FILE: a whole stream of JSON lines under a strict parser, the published schema, and
 * the rules that no single line shows: it begins with hello and ends with bye, `seq` has no gaps,
 * events come in the order of time unless they are marked late. A part of a recording repeats
 * definitions of before its first line, and may end with next. Exit code 1 and the line's number
 * where something is not so. For tests of the built program.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema_check.h"

struct stream {
    json_t *schema;
    uint64_t number;                   /* of the line, from 0 */
    uint64_t seq;                      /* that the line should have */
    uint64_t first_seq, last_repeated; /* of a part */
    uint64_t events;
    uint64_t last_ts;
    char kind[16]; /* of the last line */
};

static const char *text(const json_t *line, const char *key)
{
    const char *value = json_string_value(json_object_get(line, key));

    return value ? value : "";
}

static uint64_t get_number(const json_t *line, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(line, key));
}

static bool is_end(const char *kind)
{
    return strcmp(kind, "bye") == 0 || strcmp(kind, "next") == 0;
}

/* A definition of an earlier part, in its order, before the part's own lines. */
static bool is_repeated(struct stream *stream, const json_t *line)
{
    uint64_t seq = get_number(line, "seq");

    if (strcmp(text(line, "k"), "def") != 0 || stream->seq != stream->first_seq ||
        seq >= stream->first_seq || seq <= stream->last_repeated)
        return false;
    stream->last_repeated = seq;
    return true;
}

static const char *check_order(struct stream *stream, const json_t *line)
{
    uint64_t ts = strtoull(text(line, "ts"), NULL, 10);

    if (is_end(stream->kind))
        return "something follows the end";
    if ((stream->number == 0) != (strcmp(text(line, "k"), "hello") == 0))
        return "hello is the first line and no other";
    if (is_repeated(stream, line))
        return NULL;
    if (get_number(line, "seq") != stream->seq)
        return "seq has a gap";
    stream->seq++;
    if (stream->number == 0 && json_object_get(line, "part"))
        stream->seq = stream->first_seq = get_number(line, "first_seq");
    if (strcmp(text(line, "k"), "anchor") == 0)
        stream->last_ts = 0; /* the clock of the lines may have been stepped back */
    if (strcmp(text(line, "k"), "ev") == 0 && !json_object_get(line, "late")) {
        stream->events++;
        if (ts < stream->last_ts)
            return "earlier than the event before it and not marked late";
        stream->last_ts = ts;
    }
    (void)snprintf(stream->kind, sizeof(stream->kind), "%s", text(line, "k"));
    return NULL;
}

/* NULL, or what is wrong. */
static const char *check(struct stream *stream, const char *bytes, size_t size)
{
    static char problem[512];
    json_error_t error;
    json_t *line = json_loadb(bytes, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    const char *wrong;

    if (!line) {
        (void)snprintf(problem, sizeof(problem), "%s", error.text);
        return problem;
    }
    wrong = schema_check(stream->schema, line, problem, sizeof(problem)) ? check_order(stream, line)
                                                                         : problem;
    json_decref(line);
    return wrong;
}

static int check_file(struct stream *stream, FILE *file)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t size;
    const char *wrong = NULL;

    while (!wrong && (size = getline(&line, &capacity, file)) > 0) {
        wrong = line[size - 1] == '\n' ? check(stream, line, (size_t)size) : "no end of line";
        stream->number += !wrong;
    }
    if (wrong)
        fprintf(stderr, "line %" PRIu64 ": %s: %s\n", stream->number + 1, wrong, line);
    else if (!is_end(stream->kind))
        fprintf(stderr, "%s\n", wrong = "the stream has no end");
    free(line);
    return wrong != NULL;
}

int main(int argc, char **argv)
{
    struct stream stream = { .schema = json_load_file(TRACERD_LINE_SCHEMA, 0, NULL) };
    FILE *file = argc == 2 ? fopen(argv[1], "re") : NULL;
    int result;

    if (!stream.schema || !file) {
        fprintf(stderr, "usage: check_lines FILE (with the schema at %s)\n", TRACERD_LINE_SCHEMA);
        return 2;
    }
    result = check_file(&stream, file);
    if (result == 0)
        printf("%" PRIu64 " lines, %" PRIu64 " events\n", stream.number, stream.events);
    fclose(file);
    json_decref(stream.schema);
    return result;
}

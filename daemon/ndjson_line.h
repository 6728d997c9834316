/*
 * One line of a recording back into a record: the envelope is read, the args of an event stay the
 * text they are. A pure function over foreign bytes; used by the source and by the fuzzer.
 */
#ifndef TRACERD_DAEMON_NDJSON_LINE_H
#define TRACERD_DAEMON_NDJSON_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "tracerd/json.h"
#include "tracerd/record.h"

/* Nothing that we write is longer, nor could it be written again. */
#define NDJSON_LINE_MAX (TRD_JSON_LINE_MAX / 2)

struct ndjson_line {
    struct json_t *object; /* owned: the line parsed */
    char *args;            /* owned: its args, where the line has them in another form than ours */
    uint64_t seq;
    bool is_hello;        /* begins a recording, or a part of one */
    bool is_bye, is_next; /* ends one */
};

/*
 * 1 and a record that borrows from `line` and from `bytes` until the next call; a SPAN carries its
 * end as ts_ns (see struct source). 0: a line that belongs to the recording and not to the timeline
 * (hello, hb, next, bye, kinds of later versions). -EBADMSG: damaged, or longer than
 * NDJSON_LINE_MAX.
 */
int ndjson_line_parse(struct ndjson_line *line, const char *bytes, size_t size,
                      struct trd_record *out);
void ndjson_line_finish(struct ndjson_line *line);

#endif

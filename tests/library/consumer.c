/*
 * A program that knows nothing but the installed headers: sums the field `number` of all ticks,
 * found once and then read at its offset, and writes the last record as a JSON line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tracerd/json.h>
#include <tracerd/reader.h>

int main(int argc, char **argv)
{
    const struct trd_field *field = NULL;
    unsigned long long events = 0, lost = 0, sum = 0;
    struct trd_reader *reader;
    struct trd_record record;
    struct trd_json *json;
    char error[256], *line = malloc(TRD_JSON_LINE_MAX);
    int64_t size = 0;

    if (argc != 2 || !line || trd_reader_open(&reader, argv[1], error, sizeof(error)) != 0 ||
        trd_json_create(&json, NULL) != 0)
        return 1;
    while (trd_reader_next(reader, &record) == 1) {
        uint64_t number;

        size = trd_json_line(json, &record, events, line, TRD_JSON_LINE_MAX);
        if (record.kind == TRD_KIND_LOST) {
            lost += record.lost;
            continue;
        }
        if (!field)
            field = trd_schema_field(record.schema, "number");
        if (!field || field->size != sizeof(number) || record.size < field->offset + sizeof(number))
            return 1;
        memcpy(&number, record.data + field->offset, sizeof(number));
        sum += number;
        events++;
    }
    printf("%llu events, %llu lost, sum %llu\n%.*s", events, lost, sum, (int)size, line);
    trd_json_destroy(json);
    trd_reader_destroy(reader);
    free(line);
    return 0;
}

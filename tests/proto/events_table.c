/* Prints proto/EVENTS.md from the schema; with --ids, tests/data/event-ids.txt. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "event.h"

static const char *const type_names[] = { "u8", "u16", "u32", "u64", "i32", "i64", "text" };

static void print_ids(void)
{
    const struct trd_event_info *info;

    for (size_t i = 0; (info = trd_event_get(i)); i++)
        for (size_t k = 0; k < info->field_count; k++)
            printf("%#04x %s %s %s %u\n", info->id, info->name, info->fields[k].name,
                   type_names[info->fields[k].type], info->fields[k].offset);
}

static void print_event(const struct trd_event_info *info)
{
    printf("\n### `%s`\n\n%s Id %#04x, category `%s`, %u bytes of fixed fields.\n\n", info->name,
           info->doc, info->id, trd_category_name(info->category), info->fixed_size);
    printf("| offset | field | type | what |\n|---|---|---|---|\n");
    for (size_t i = 0; i < info->field_count; i++) {
        const struct trd_event_field *field = &info->fields[i];

        printf("| %u | `%s` | %s | %s", field->offset, field->name, type_names[field->type],
               field->doc);
        for (size_t k = 0; k < field->name_count; k++)
            printf("%s%" PRIu64 " %s", k == 0 ? ": " : ", ", field->names[k].value,
                   field->names[k].name);
        printf(" |\n");
    }
}

static void print_document(void)
{
    const struct trd_event_info *info;

    printf(
        "# CLR events\n\n"
        "Made from `events.def` and `names.def` (`ninja events_document`); a test holds the two "
        "together. How a record lies in memory\nis in `PROTOCOL.md`; offsets here count from the "
        "start of the fixed fields.\n");
    for (size_t i = 0; (info = trd_event_get(i)); i++)
        print_event(info);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--ids") == 0)
        print_ids();
    else
        print_document();
    return 0;
}

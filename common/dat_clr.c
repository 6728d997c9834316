#include "dat_clr.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "event.h"

#define BASE_STEP 0x1000u
#define BASE_LAST 0x7000u

struct head {
    uint16_t type;
    uint8_t flags;
    uint8_t preempt_count;
    int32_t tid;
    int32_t pid;
    int32_t cpu;
    uint32_t marks;
    uint32_t size;
};

_Static_assert(sizeof(struct head) == DAT_CLR_HEAD, "the layout of the header comment");

uint32_t dat_clr_choose_base(const struct trd_catalog *catalog)
{
    for (uint32_t base = BASE_LAST; base > 0; base -= BASE_STEP) {
        uint32_t id = base;

        while (catalog && id < base + BASE_STEP && !trd_catalog_find(catalog, id))
            id++;
        if (!catalog || id == base + BASE_STEP)
            return base;
    }
    return 0;
}

/* Formats */

static const char *declaration(const struct trd_field *field)
{
    static const char *const types[2][9] = {
        { [1] = "u8", [2] = "u16", [4] = "u32", [8] = "u64" },
        { [1] = "s8", [2] = "s16", [4] = "s32", [8] = "s64" },
    };

    return types[field->is_signed][field->size <= 8 ? field->size : 0];
}

static void put_field(struct dat_bytes *out, const struct trd_field *field)
{
    unsigned offset = field->offset + DAT_CLR_HEAD;

    if (field->storage == TRD_STORAGE_DYN_CHARS)
        dat_bytes_print(out, "\tfield:__data_loc char[] %s;\toffset:%u;\tsize:4;\tsigned:1;\n",
                        field->name, offset);
    else
        dat_bytes_print(out, "\tfield:%s %s;\toffset:%u;\tsize:%u;\tsigned:%d;\n",
                        declaration(field), field->name, offset, field->size, field->is_signed);
}

static bool is_hex(const struct trd_field *field)
{
    switch (field->meaning) {
    case TRD_MEANING_ADDRESS:
    case TRD_MEANING_SYMBOL:
    case TRD_MEANING_HEX:
    case TRD_MEANING_THREAD:
    case TRD_MEANING_METHOD:
    case TRD_MEANING_MODULE:
    case TRD_MEANING_ASSEMBLY:
    case TRD_MEANING_TYPE:
    case TRD_MEANING_TOKEN:
    case TRD_MEANING_HRESULT:
        return true;
    default:
        return false;
    }
}

static void put_conversion(struct dat_bytes *out, const struct trd_field *field)
{
    const char *length = field->size == 8 ? "ll" : "";

    if (field->storage == TRD_STORAGE_DYN_CHARS || field->names)
        dat_bytes_print(out, "%s%s=%%s", field->offset ? " " : "", field->name);
    else
        dat_bytes_print(out, "%s%s=%s%%%s%c", field->offset ? " " : "", field->name,
                        is_hex(field) ? "0x" : "", length,
                        is_hex(field)      ? 'x'
                        : field->is_signed ? 'd'
                                           : 'u');
}

/* Values fit: enumerators and masks of proto/names.def are small. */
static void put_names(struct dat_bytes *out, const struct trd_field *field)
{
    bool flags = field->meaning == TRD_MEANING_FLAGS;

    dat_bytes_print(out, flags ? "__print_flags(REC->%s, \"|\"" : "__print_symbolic(REC->%s",
                    field->name);
    for (uint32_t i = 0; i < field->names->count; i++)
        dat_bytes_print(out, ", { 0x%" PRIx64 ", \"%s\" }", field->names->entries[i].value,
                        field->names->entries[i].name);
    dat_bytes_print(out, ")");
}

static void put_argument(struct dat_bytes *out, const struct trd_field *field)
{
    dat_bytes_print(out, ", ");
    if (field->storage == TRD_STORAGE_DYN_CHARS)
        dat_bytes_print(out, "__get_str(%s)", field->name);
    else if (field->names)
        put_names(out, field);
    else
        dat_bytes_print(out, "REC->%s", field->name);
}

static void put_head(struct dat_bytes *out, const char *name, uint32_t id)
{
    dat_bytes_print(out,
                    "name: %s\nID: %u\nformat:\n"
                    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
                    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
                    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
                    "\tfield:int common_process;\toffset:8;\tsize:4;\tsigned:1;\n"
                    "\tfield:int common_cpu;\toffset:12;\tsize:4;\tsigned:1;\n"
                    "\tfield:unsigned int common_marks;\toffset:16;\tsize:4;\tsigned:0;\n"
                    "\tfield:unsigned int common_size;\toffset:20;\tsize:4;\tsigned:0;\n\n",
                    name, id);
}

static void put_format(struct dat_bytes *out, const struct trd_schema *schema, uint32_t base)
{
    put_head(out, schema->name, base | schema->id);
    for (uint32_t i = 0; i < schema->field_count; i++)
        put_field(out, &schema->fields[i]);
    dat_bytes_print(out, "\nprint fmt: \"");
    for (uint32_t i = 0; i < schema->field_count; i++)
        put_conversion(out, &schema->fields[i]);
    dat_bytes_print(out, "\"");
    for (uint32_t i = 0; i < schema->field_count; i++)
        put_argument(out, &schema->fields[i]);
    dat_bytes_print(out, "\n");
}

static void put_owner_format(struct dat_bytes *out, uint32_t base)
{
    put_head(out, "thread_owner", base | DAT_CLR_OWNER);
    dat_bytes_print(out,
                    "\tfield:int pid;\toffset:%d;\tsize:4;\tsigned:1;\n"
                    "\nprint fmt: \"pid=%%d\", REC->pid\n",
                    DAT_CLR_HEAD);
}

static void put_sized(struct dat_bytes *out, struct dat_bytes *text)
{
    dat_bytes_u64(out, text->size);
    dat_bytes_put(out, text->bytes, text->size);
    text->size = 0;
}

void dat_clr_put_formats(struct dat_bytes *out, uint32_t base)
{
    struct dat_bytes text = { 0 };
    const struct trd_event_info *info;
    uint32_t count = 0;

    while (trd_event_get(count))
        count++;
    dat_bytes_text(out, "clr");
    dat_bytes_u32(out, count + 1);
    for (uint32_t i = 0; (info = trd_event_get(i)); i++) {
        put_format(&text, trd_clr_schema(info->id), base);
        put_sized(out, &text);
    }
    put_owner_format(&text, base);
    put_sized(out, &text);
    out->failed |= text.failed;
    dat_bytes_finish(&text);
}

/* Records */

/* Texts count from the record's first byte; an empty one points at the NUL behind everything. */
static void move_texts(const struct trd_schema *schema, uint8_t *record, size_t size)
{
    uint8_t *fixed = record + DAT_CLR_HEAD;

    for (uint32_t i = 0; i < schema->field_count; i++) {
        struct trd_text text;

        if (schema->fields[i].storage != TRD_STORAGE_DYN_CHARS)
            continue;
        memcpy(&text, fixed + schema->fields[i].offset, sizeof(text));
        text.offset = text.size ? (uint16_t)(text.offset + DAT_CLR_HEAD) : (uint16_t)size;
        memcpy(fixed + schema->fields[i].offset, &text, sizeof(text));
    }
}

static size_t finish(const struct trd_record *record, uint32_t type, size_t size, uint8_t *out)
{
    struct head head = { .type = (uint16_t)type,
                         .tid = record->tid,
                         .pid = record->pid,
                         .cpu = record->cpu,
                         .marks = record->flags,
                         .size = (uint32_t)size };
    size_t padded = (DAT_CLR_HEAD + size + 4) & ~(size_t)3;

    memcpy(out, &head, sizeof(head));
    memset(out + DAT_CLR_HEAD + size, 0, padded - DAT_CLR_HEAD - size);
    return padded;
}

static size_t put_loss(const struct trd_record *record, uint32_t base, uint8_t *out)
{
    const struct trd_ev_lost lost = { .from = record->lost_from_ns,
                                      .to = record->ts_ns,
                                      .count = record->lost };

    memcpy(out + DAT_CLR_HEAD, &lost, sizeof(lost));
    return finish(record, base | TRD_EV_lost, sizeof(lost), out);
}

size_t dat_clr_put(const struct trd_record *record, uint32_t base, uint8_t *out)
{
    const struct trd_schema *schema = record->schema;
    const uint8_t *data = record->data;
    size_t size = record->size, padded;

    if (record->kind == TRD_KIND_LOST)
        return put_loss(record, base, out);
    if (record->kind != TRD_KIND_EVENT || !schema || !schema->is_clr)
        return 0;
    /* An event of an EventSource goes as the process told it; who reads the file reads it again. */
    if (record->told) {
        schema = trd_clr_schema((uint16_t)schema->id);
        data = record->told;
        size = record->told_size;
    }
    if (!schema || !data || size < schema->fixed_size || size > TRD_EVENT_SIZE_MAX)
        return 0;
    memcpy(out + DAT_CLR_HEAD, data, size);
    padded = finish(record, base | schema->id, size, out);
    move_texts(schema, out, DAT_CLR_HEAD + size);
    return padded;
}

size_t dat_clr_put_owner(int32_t tid, int32_t pid, uint32_t base, uint8_t *out)
{
    struct trd_record record;

    trd_record_init(&record);
    record.tid = tid;
    record.pid = pid;
    memcpy(out + DAT_CLR_HEAD, &pid, sizeof(pid));
    return finish(&record, base | DAT_CLR_OWNER, sizeof(pid), out);
}

static bool restore_texts(const struct trd_schema *schema, uint8_t *fixed, size_t size)
{
    for (uint32_t i = 0; i < schema->field_count; i++) {
        struct trd_text text;

        if (schema->fields[i].storage != TRD_STORAGE_DYN_CHARS)
            continue;
        memcpy(&text, fixed + schema->fields[i].offset, sizeof(text));
        if (text.size == 0)
            text.offset = 0;
        else if (text.offset < DAT_CLR_HEAD ||
                 (size_t)text.offset - DAT_CLR_HEAD + text.size > size)
            return false;
        else
            text.offset -= DAT_CLR_HEAD;
        memcpy(fixed + schema->fields[i].offset, &text, sizeof(text));
    }
    return true;
}

static void get_loss(const uint8_t *fixed, struct trd_record *out)
{
    struct trd_ev_lost lost;

    memcpy(&lost, fixed, sizeof(lost));
    out->kind = TRD_KIND_LOST;
    out->lost = lost.count;
    out->lost_from_ns = lost.from;
    out->schema = NULL;
    out->data = NULL;
    out->size = 0;
}

static void get_owner(const struct head *head, uint8_t *copy, struct trd_record *out)
{
    int size =
        snprintf((char *)copy, DAT_CLR_RECORD_MAX, "{\"tid\":%d,\"pid\":%d}", head->tid, head->pid);

    out->kind = TRD_KIND_DEFINITION;
    out->source = TRD_SOURCE_TRACERD;
    out->tid = head->tid;
    out->pid = head->pid;
    out->cpu = -1;
    out->stream = NULL;
    out->name = "thread_owner";
    out->args_json = (const char *)copy;
    out->args_json_size = (uint32_t)size;
    out->schema = NULL;
    out->data = NULL;
    out->size = 0;
}

static bool is_owner(const struct trd_schema *schema, size_t size)
{
    return (schema->id & DAT_CLR_ID_MASK) == DAT_CLR_OWNER && size >= DAT_CLR_HEAD &&
           strcmp(schema->full_name, "clr:thread_owner") == 0;
}

bool dat_clr_get(const struct trd_schema *schema, const uint8_t *bytes, size_t size, uint8_t *copy,
                 struct trd_record *out)
{
    const struct trd_schema *clr = trd_clr_schema((uint16_t)(schema->id & DAT_CLR_ID_MASK));
    struct head head;

    if (is_owner(schema, size)) {
        memcpy(&head, bytes, sizeof(head));
        get_owner(&head, copy, out);
        return true;
    }
    if (!clr || strcmp(schema->system, "clr") != 0 || strcmp(schema->name, clr->name) != 0 ||
        size < sizeof(head))
        return false;
    memcpy(&head, bytes, sizeof(head));
    if (head.size > size - sizeof(head) || head.size < clr->fixed_size ||
        head.size > DAT_CLR_RECORD_MAX)
        return false;
    memcpy(copy, bytes + sizeof(head), head.size);
    if (!restore_texts(clr, copy, head.size))
        return false;
    out->source = TRD_SOURCE_CLR;
    out->schema = clr;
    out->data = copy;
    out->size = head.size;
    out->data_stays = false;
    out->tid = head.tid;
    out->pid = head.pid;
    out->cpu = head.cpu;
    out->flags |= (uint16_t)head.marks;
    out->stream = NULL;
    if (clr->id == TRD_EV_lost)
        get_loss(copy, out);
    return true;
}

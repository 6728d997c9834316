#include "event.h"

#include <errno.h>
#include <string.h>

#define TRD_NAME(value, name) { value, name },
#define TRD_NAMES(table, entries) static const struct trd_event_name names_##table[] = { entries };
#include "names.def"
#undef TRD_NAMES
#undef TRD_NAME

/*
 * A field's entry needs its event's struct for offsetof, so each event gets a function whose scope
 * calls that struct `fixed`; the tables themselves are constant.
 */
#define TRD_FIELD(type, ident, meaning, doc)                                                       \
    { #ident,                                                                                      \
      doc,                                                                                         \
      #meaning,                                                                                    \
      NULL,                                                                                        \
      NULL,                                                                                        \
      0,                                                                                           \
      offsetof(fixed, ident),                                                                      \
      sizeof(((fixed *)0)->ident),                                                                 \
      TRD_EVENT_TYPE_##type },
#define TRD_NAMED(type, ident, meaning, table, doc)                                                \
    { #ident,                                                                                      \
      doc,                                                                                         \
      #meaning,                                                                                    \
      #table,                                                                                      \
      names_##table,                                                                               \
      sizeof(names_##table) / sizeof(names_##table[0]),                                            \
      offsetof(fixed, ident),                                                                      \
      sizeof(((fixed *)0)->ident),                                                                 \
      TRD_EVENT_TYPE_##type },
#define TRD_EVENT(id, category, ident, name, doc, fields)                                          \
    static const struct trd_event_info *info_##ident(void)                                         \
    {                                                                                              \
        typedef struct trd_ev_##ident fixed;                                                       \
        static const struct trd_event_field table[] = { fields };                                  \
        static const struct trd_event_info info = { id,                                            \
                                                    TRD_CATEGORY_##category,                       \
                                                    sizeof(table) / sizeof(table[0]),              \
                                                    sizeof(fixed),                                 \
                                                    name,                                          \
                                                    doc,                                           \
                                                    table };                                       \
                                                                                                   \
        return &info;                                                                              \
    }
#include "events.def"
#undef TRD_EVENT
#undef TRD_FIELD
#undef TRD_NAMED

#define TRD_FIELD(type, ident, meaning, doc)
#define TRD_NAMED(type, ident, meaning, table, doc)
#define TRD_EVENT(id, category, ident, name, doc, fields) info_##ident,
static const struct trd_event_info *(*const infos[])(void) = {
#include "events.def"
};
#undef TRD_EVENT

const struct trd_event_info *trd_event_get(size_t index)
{
    return index < sizeof(infos) / sizeof(infos[0]) ? infos[index]() : NULL;
}

const struct trd_event_info *trd_event_find(uint16_t event_id)
{
    switch (event_id) {
#define TRD_EVENT(id, category, ident, name, doc, fields)                                          \
    case id:                                                                                       \
        return info_##ident();
#include "events.def"
#undef TRD_EVENT
#undef TRD_FIELD
#undef TRD_NAMED
    default:
        return NULL;
    }
}

const struct trd_event_info *trd_event_find_name(const char *name)
{
    for (size_t i = 0; i < sizeof(infos) / sizeof(infos[0]); i++)
        if (strcmp(infos[i]()->name, name) == 0)
            return infos[i]();
    return NULL;
}

static const char *const category_names[TRD_CATEGORY_COUNT] = {
#define NAME(number, ident, name) [number] = (name),
    [TRD_CATEGORY_RUNTIME] = "runtime", TRD_CATEGORIES(NAME, NAME)
#undef NAME
};

const char *trd_category_name(enum trd_category category)
{
    return (unsigned)category < TRD_CATEGORY_COUNT ? category_names[category] : NULL;
}

int trd_category_find(const char *name, size_t length)
{
    for (int i = 0; i < TRD_CATEGORY_COUNT; i++)
        if (category_names[i] && strlen(category_names[i]) == length &&
            memcmp(category_names[i], name, length) == 0)
            return i;
    return -ENOENT;
}

uint32_t trd_categories_find(const char *word, size_t length)
{
    static const char defaults[] = "default";
    int category = trd_category_find(word, length);

    if (category >= 0)
        return 1u << category;
    if (length == strlen(defaults) && memcmp(word, defaults, length) == 0)
        return TRD_CATEGORIES_DEFAULT;
    return 0;
}

/* Texts lie behind the fixed fields, inside the record, and end with a NUL. */
static int check_texts(const struct trd_event_info *info, const uint8_t *fixed, size_t size)
{
    for (size_t i = 0; i < info->field_count; i++) {
        const struct trd_event_field *field = &info->fields[i];
        struct trd_text text;

        if (field->type != TRD_EVENT_TYPE_text)
            continue;
        memcpy(&text, fixed + field->offset, sizeof(text));
        if (text.size == 0)
            continue;
        if (text.offset < info->fixed_size || (size_t)text.offset + text.size > size ||
            text.size > TRD_TEXT_MAX || fixed[text.offset + text.size - 1] != '\0')
            return -EBADMSG;
    }
    return 1;
}

int trd_event_look(const uint8_t *bytes, size_t size, struct trd_event_head *out_head)
{
    struct trd_event_head head;

    if (size < sizeof(head))
        return -EAGAIN;
    memcpy(&head, bytes, sizeof(head));
    if (head.size < sizeof(head) || head.size % TRD_EVENT_ALIGN != 0 ||
        head.size > TRD_EVENT_SIZE_MAX)
        return -EBADMSG;
    if (head.size > size)
        return -EAGAIN;
    *out_head = head;
    return 0;
}

struct grown {
    uint16_t id;
    uint32_t revision; /* that has the field; earlier ones end before it */
    uint32_t known;    /* bytes of the fixed fields up to it */
    uint32_t size;     /* of the fixed fields before */
};

static const struct grown grown[] = {
#define TRD_GREW(revision, ident, field, size)                                                     \
    { TRD_EV_##ident, revision, offsetof(struct trd_ev_##ident, field), size },
#include "grown.def"
#undef TRD_GREW
};

/* What has grown more than once has its first step first. */
static const struct grown *find_grown(uint16_t event_id, uint32_t revision)
{
    for (size_t i = 0; i < sizeof(grown) / sizeof(grown[0]); i++)
        if (grown[i].id == event_id && grown[i].revision > revision)
            return &grown[i];
    return NULL;
}

/* The texts lie `shift` further behind. */
static int move_texts(const struct trd_event_info *info, const struct grown *step, uint32_t shift,
                      uint8_t *fixed)
{
    for (size_t i = 0; i < info->field_count; i++) {
        const struct trd_event_field *field = &info->fields[i];
        struct trd_text text;

        if (field->type != TRD_EVENT_TYPE_text || field->offset >= step->known)
            continue;
        memcpy(&text, fixed + field->offset, sizeof(text));
        if (text.size > 0 && (text.offset < step->size || text.offset > TRD_EVENT_SIZE_MAX))
            return -EBADMSG;
        text.offset = (uint16_t)(text.offset + shift);
        memcpy(fixed + field->offset, &text, sizeof(text));
    }
    return 1;
}

int trd_event_widen(const uint8_t *bytes, size_t size, uint32_t revision,
                    uint8_t out[TRD_EVENT_SIZE_MAX])
{
    const struct trd_event_info *info;
    const struct grown *step;
    struct trd_event_head head;
    uint32_t shift, behind;
    int result = trd_event_look(bytes, size, &head);

    if (result != 0)
        return result;
    step = find_grown(head.id, revision);
    if (!step)
        return 0;
    info = trd_event_find(head.id);
    shift = info->fixed_size - step->size;
    if (head.size - sizeof(head) < step->size)
        return -EBADMSG;
    behind = head.size - (uint32_t)sizeof(head) - step->size;
    head.size = trd_event_size(info->fixed_size + behind);
    if (head.size > TRD_EVENT_SIZE_MAX)
        return -EBADMSG;
    memset(out, 0, head.size);
    memcpy(out, &head, sizeof(head));
    memcpy(out + sizeof(head), bytes + sizeof(head), step->known);
    memcpy(out + sizeof(head) + info->fixed_size, bytes + sizeof(head) + step->size, behind);
    return move_texts(info, step, shift, out + sizeof(head));
}

int trd_event_check(const uint8_t *bytes, size_t size, struct trd_event_head *out_head)
{
    struct trd_event_head head;
    const struct trd_event_info *info;
    int result = trd_event_look(bytes, size, &head);

    if (result != 0)
        return result;
    info = trd_event_find(head.id);
    if (!info) {
        *out_head = head;
        return 0;
    }
    if (head.size - sizeof(head) < info->fixed_size)
        return -EBADMSG;
    result = check_texts(info, bytes + sizeof(head), head.size - sizeof(head));
    if (result == 1)
        *out_head = head;
    return result;
}

const char *trd_event_text(const void *fixed, struct trd_text text, size_t *out_size)
{
    if (text.size == 0) {
        *out_size = 0;
        return "";
    }
    *out_size = text.size - 1u;
    return (const char *)fixed + text.offset;
}

/* Steps back from the middle of a UTF-8 sequence to its start. */
static size_t character_boundary(const char *bytes, size_t length)
{
    size_t start = length;

    while (start > 0 && length - start < 3 && ((uint8_t)bytes[start] & 0xc0) == 0x80)
        start--;
    return start;
}

/* Texts are short: what is set up for a copy of any size would cost more than they do. */
static void copy_text(char *to, const char *from, size_t size)
{
    uint64_t eight;

    if (size < sizeof(eight)) {
        memcpy(to, from, size);
        return;
    }
    for (size_t at = 0; at < size - sizeof(eight); at += sizeof(eight)) {
        memcpy(&eight, from + at, sizeof(eight));
        memcpy(to + at, &eight, sizeof(eight));
    }
    /* The last eight, some of them once more. */
    memcpy(&eight, from + size - sizeof(eight), sizeof(eight));
    memcpy(to + size - sizeof(eight), &eight, sizeof(eight));
}

bool trd_event_put_text(void *fixed, uint32_t *used, uint32_t capacity, struct trd_text *text,
                        const char *bytes, size_t length)
{
    size_t room = capacity > *used ? capacity - *used : 0;
    size_t kept = length;

    if (room > TRD_TEXT_MAX)
        room = TRD_TEXT_MAX;
    if (room == 0) {
        *text = (struct trd_text){ 0, 0 };
        return false;
    }
    if (kept > room - 1)
        kept = character_boundary(bytes, room - 1);

    text->offset = (uint16_t)*used;
    text->size = (uint16_t)(kept + 1);
    copy_text((char *)fixed + *used, bytes, kept);
    ((char *)fixed)[*used + kept] = '\0';
    *used += (uint32_t)kept + 1;
    return kept == length;
}

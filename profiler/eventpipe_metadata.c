#include "eventpipe_metadata.h"

#include "text.h"

#define TYPE_OBJECT 1u
#define TYPE_ARRAY 19u

#define TAG_OPCODE 1
#define TAG_PARAMETERS 2

#define DEPTH_MAX 8       /* of objects in objects */
#define PATH_MAX_SIZE 512 /* of a name, outer ones included */

static void parse_tag(uint8_t tag, struct cursor bytes, struct eventpipe_metadata *out)
{
    if (tag == TAG_OPCODE)
        out->opcode = cursor_u8(&bytes);
    if (tag == TAG_PARAMETERS) {
        out->fields = bytes;
        out->second_form = true;
    }
}

struct walk {
    struct cursor cursor;
    bool second_form;
    bool skims; /* only to find the end */
    void (*each)(void *context, const struct eventpipe_field *field);
    void *context;
    size_t count;
    bool stopped; /* what follows cannot be read */
    char path[PATH_MAX_SIZE];
};

static size_t append_name(struct walk *walk, size_t at, const struct cursor_string *name)
{
    uint16_t units[PATH_MAX_SIZE];
    size_t count = name->units < PATH_MAX_SIZE ? name->units : PATH_MAX_SIZE;

    if (at > 0 && at < PATH_MAX_SIZE)
        walk->path[at++] = '.';
    memcpy(units, name->bytes, count * sizeof(units[0]));
    return at + text_from_utf16(units, count, walk->path + at, PATH_MAX_SIZE - at);
}

static void give(struct walk *walk, uint32_t type, bool is_array, size_t path_size)
{
    struct eventpipe_field field = { .type = (enum trd_event_field_type)type,
                                     .is_array = is_array,
                                     .name = walk->path,
                                     .name_size = path_size };

    if (walk->skims)
        return;
    if (walk->count == TRD_EVENT_FIELDS_MAX) {
        walk->stopped = true;
        return;
    }
    if (type < TRD_FIELD_BOOL || type > TRD_FIELD_TEXT) {
        field.type = TRD_FIELD_UNKNOWN;
        walk->stopped = true;
    }
    if (walk->each)
        walk->each(walk->context, &field);
    walk->count++;
}

static void walk_all(struct walk *walk, size_t path_size, unsigned depth);

/* Its name comes behind what it consists of: looked up ahead, with nobody listening. */
static void walk_first_form(struct walk *walk, size_t path_size, unsigned depth)
{
    uint32_t type = cursor_u32(&walk->cursor);
    struct cursor inside = walk->cursor;
    struct cursor_string name;
    size_t size;

    if (type == TYPE_OBJECT) {
        struct walk ahead = { .cursor = inside, .skims = true };

        walk_all(&ahead, 0, depth + 1);
        walk->cursor = ahead.cursor;
    }
    name = cursor_string(&walk->cursor);
    if (walk->cursor.failed)
        return;
    if (walk->skims)
        return;
    size = append_name(walk, path_size, &name);
    if (type == TYPE_OBJECT) {
        struct cursor behind = walk->cursor;

        walk->cursor = inside;
        walk_all(walk, size, depth + 1);
        walk->cursor = behind;
    } else {
        give(walk, type, false, size);
    }
}

static void walk_second_form(struct walk *walk, size_t path_size, unsigned depth)
{
    struct cursor_string name;
    uint32_t type;
    size_t size;

    (void)cursor_u32(&walk->cursor); /* its size: what it consists of says that too */
    name = cursor_string(&walk->cursor);
    type = cursor_u32(&walk->cursor);
    if (walk->cursor.failed)
        return;
    size = append_name(walk, path_size, &name);
    if (type == TYPE_OBJECT)
        walk_all(walk, size, depth + 1);
    else if (type == TYPE_ARRAY)
        give(walk, cursor_u32(&walk->cursor), true, size);
    else
        give(walk, type, false, size);
}

static void walk_all(struct walk *walk, size_t path_size, unsigned depth)
{
    uint32_t count = cursor_u32(&walk->cursor);

    if (depth > DEPTH_MAX)
        walk->cursor.failed = true;
    for (uint32_t i = 0; i < count && !walk->cursor.failed && !walk->stopped; i++) {
        if (walk->second_form)
            walk_second_form(walk, path_size, depth);
        else
            walk_first_form(walk, path_size, depth);
    }
}

bool eventpipe_metadata_parse(const uint8_t *bytes, size_t size, struct eventpipe_metadata *out)
{
    struct cursor cursor = { .at = bytes, .left = size };
    struct walk walk = { .skims = true };

    memset(out, 0, sizeof(*out));
    out->id = cursor_u32(&cursor);
    out->name = cursor_string(&cursor);
    out->keywords = cursor_u64(&cursor);
    out->version = cursor_u32(&cursor);
    out->level = cursor_u32(&cursor);
    out->fields = cursor;
    if (cursor.failed)
        return false;
    /* Over the parameters to the tags. */
    walk.cursor = cursor;
    walk_all(&walk, 0, 0);
    cursor = walk.cursor;
    while (!cursor.failed && cursor.left > 0) {
        uint32_t tag_size = cursor_u32(&cursor);
        uint8_t tag = cursor_u8(&cursor);
        const uint8_t *inside = cursor_bytes(&cursor, tag_size);

        if (inside)
            parse_tag(tag, (struct cursor){ .at = inside, .left = tag_size }, out);
    }
    return true;
}

size_t eventpipe_metadata_fields(const struct eventpipe_metadata *metadata,
                                 void (*each)(void *context, const struct eventpipe_field *field),
                                 void *context)
{
    struct walk walk = { .cursor = metadata->fields,
                         .second_form = metadata->second_form,
                         .each = each,
                         .context = context };

    walk_all(&walk, 0, 0);
    return walk.count;
}

#include "module_metadata.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "info_types.h"
#include "metadata_image.h"
#include "names_known.h"
#include "text.h"

#define TOKEN_TYPE 0x02000000u
#define TOKEN_METHOD 0x06000000u
#define TOKEN_ROW 0x00ffffffu

/* The image */

/* The runtime is believed, but not so far that a wrong answer ends the process. */
static bool is_mapped(const uint8_t *bytes, size_t size)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)bytes & ~(page - 1);

    return size <= UINTPTR_MAX - (uintptr_t)bytes &&
           msync((void *)start, (uintptr_t)bytes + size - start, MS_ASYNC) == 0;
}

static bool read_image(const uint8_t *base, bool is_flat, struct metadata_tables *out)
{
    size_t cor, root, size;

    return is_mapped(base, METADATA_IMAGE_HEAD) && metadata_image_cor(base, is_flat, &cor) &&
           is_mapped(base + cor, METADATA_IMAGE_COR) &&
           metadata_image_root(base, is_flat, base + cor, &root, &size) &&
           is_mapped(base + root, size) && metadata_tables_parse(base + root, size, out);
}

/* Found once for a module: that there is no image is remembered as well. */
static __attribute__((noinline)) void find_image(struct module_metadata *metadata)
{
    const uint8_t *base;
    bool is_flat;

    if (!info_module_image(metadata->info, metadata->module, &base, &is_flat))
        return;
    if (!base || !read_image(base, is_flat, &metadata->tables))
        metadata->tables = (struct metadata_tables){ 0 };
    names_keep(NAMES_KEPT_IMAGES, metadata->module, &metadata->tables, sizeof(metadata->tables));
}

_Static_assert(sizeof(struct metadata_tables) <= NAMES_KEPT_MAX, "they can be kept");
_Static_assert(sizeof(struct metadata_tables) % sizeof(uint64_t) == 0, "and fit what is read");

void module_metadata_open(struct corprof_info *info, ModuleID module, struct module_metadata *out)
{
    *out = (struct module_metadata){ .info = info, .module = module };
    if (names_kept(NAMES_KEPT_IMAGES, module, &out->tables) == 0)
        find_image(out);
}

/* The runtime's own */

static struct metadata_import *ask(struct module_metadata *metadata)
{
    if (!metadata->has_asked)
        metadata->import = info_metadata(metadata->info, metadata->module);
    metadata->has_asked = true;
    return metadata->import;
}

void module_metadata_close(struct module_metadata *metadata)
{
    if (metadata->import)
        (void)metadata->import->vtbl->Release(metadata->import);
    metadata->import = NULL;
}

static bool has_row(const struct metadata_table *table, mdToken token)
{
    uint32_t row = token & TOKEN_ROW;

    return row > 0 && row <= table->count;
}

static size_t put(char *text, size_t used, size_t room, const char *bytes, size_t size)
{
    if (size > room - used)
        size = room - used;
    memcpy(text + used, bytes, size);
    return used + size;
}

static size_t put_name(const struct info_name *name, char *text, size_t room)
{
    return text_from_utf16(name->units, name->length, text, room);
}

/* Each question: out of the image, or else, out of line for the size of its buffers, asked. */

static __attribute__((noinline)) bool ask_nested(struct module_metadata *metadata, mdTypeDef type,
                                                 bool *out)
{
    struct info_name name;

    return ask(metadata) && metadata_type(metadata->import, type, out, &name);
}

bool module_metadata_is_nested(struct module_metadata *metadata, mdTypeDef type, bool *out)
{
    struct metadata_text space, name;

    if (!has_row(&metadata->tables.types, type))
        return ask_nested(metadata, type, out);
    return metadata_tables_type(&metadata->tables, type & TOKEN_ROW, out, &space, &name);
}

static __attribute__((noinline)) size_t ask_type(struct module_metadata *metadata, mdTypeDef type,
                                                 char *text, size_t room)
{
    struct info_name name;
    bool nested;

    if (!ask(metadata) || !metadata_type(metadata->import, type, &nested, &name))
        return 0;
    return put_name(&name, text, room);
}

size_t module_metadata_type(struct module_metadata *metadata, mdTypeDef type, char *text,
                            size_t room)
{
    struct metadata_text space, name;
    size_t used = 0;
    bool nested;

    if (!has_row(&metadata->tables.types, type))
        return ask_type(metadata, type, text, room);
    if (!metadata_tables_type(&metadata->tables, type & TOKEN_ROW, &nested, &space, &name))
        return 0;
    if (space.size > 0) {
        used = put(text, used, room, space.bytes, space.size);
        used = put(text, used, room, ".", 1);
    }
    return put(text, used, room, name.bytes, name.size);
}

static __attribute__((noinline)) size_t ask_method(struct module_metadata *metadata, mdToken method,
                                                   mdTypeDef *out_type, char *text, size_t room)
{
    struct info_name name;

    if (!ask(metadata) || !metadata_method(metadata->import, method, out_type, &name))
        return 0;
    return put_name(&name, text, room);
}

size_t module_metadata_method(struct module_metadata *metadata, mdToken method, mdTypeDef *out_type,
                              char *text, size_t room)
{
    struct metadata_text name;
    uint32_t type;

    if (!has_row(&metadata->tables.methods, method))
        return ask_method(metadata, method, out_type, text, room);
    if (!metadata_tables_method(&metadata->tables, method & TOKEN_ROW, &type, &name))
        return 0;
    *out_type = TOKEN_TYPE | type;
    return put(text, 0, room, name.bytes, name.size);
}

static __attribute__((noinline)) size_t ask_field(struct module_metadata *metadata, mdToken field,
                                                  char *text, size_t room)
{
    struct info_name name;

    if (!ask(metadata) || !metadata_field(metadata->import, field, &name))
        return 0;
    return put_name(&name, text, room);
}

size_t module_metadata_field(struct module_metadata *metadata, mdToken field, char *text,
                             size_t room)
{
    struct metadata_text name;

    if (!has_row(&metadata->tables.fields, field))
        return ask_field(metadata, field, text, room);
    if (!metadata_tables_field(&metadata->tables, field & TOKEN_ROW, &name))
        return 0;
    return put(text, 0, room, name.bytes, name.size);
}

bool module_metadata_enclosing(struct module_metadata *metadata, mdTypeDef type, mdTypeDef *out)
{
    uint32_t around;

    if (!has_row(&metadata->tables.types, type))
        return ask(metadata) && metadata_enclosing(metadata->import, type, out);
    if (!metadata_tables_enclosing(&metadata->tables, type & TOKEN_ROW, &around))
        return false;
    *out = TOKEN_TYPE | around;
    return true;
}

bool module_metadata_has_method(struct module_metadata *metadata, mdTypeDef type,
                                const char *ascii_name)
{
    if (has_row(&metadata->tables.types, type))
        return metadata_tables_has_method(&metadata->tables, type & TOKEN_ROW, ascii_name);
    return ask(metadata) && metadata_has_method(metadata->import, type, ascii_name);
}

static __attribute__((noinline)) size_t ask_parameter(struct module_metadata *metadata,
                                                      mdToken owner, unsigned index, char *text,
                                                      size_t room)
{
    struct info_name name;

    if (!ask(metadata) || !metadata_parameter(metadata->import, owner, index, &name))
        return 0;
    return put_name(&name, text, room);
}

size_t module_metadata_parameter(struct module_metadata *metadata, mdToken owner, unsigned index,
                                 char *text, size_t room)
{
    bool of_method = (owner & ~TOKEN_ROW) == TOKEN_METHOD;
    const struct metadata_tables *tables = &metadata->tables;
    struct metadata_text name;

    if (!has_row(of_method ? &tables->methods : &tables->types, owner))
        return ask_parameter(metadata, owner, index, text, room);
    if (!metadata_tables_parameter(tables, of_method, owner & TOKEN_ROW, index, &name))
        return 0;
    return put(text, 0, room, name.bytes, name.size);
}

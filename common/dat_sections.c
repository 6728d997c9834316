#include "dat_sections.h"

#include <inttypes.h>
#include <string.h>

#include "catalog_private.h"
#include "dat_clr.h"

size_t dat_section_open(struct dat_bytes *out, uint16_t id)
{
    size_t at = out->size;

    dat_bytes_u16(out, id);
    dat_bytes_u16(out, 0); /* not compressed */
    dat_bytes_u32(out, 0); /* without a description */
    dat_bytes_u64(out, 0);
    return at;
}

void dat_section_close(struct dat_bytes *out, size_t at)
{
    uint64_t size = out->size - at - DAT_SECTION_HEAD;

    if (!out->failed)
        memcpy(out->bytes + at + 8, &size, sizeof(size));
}

static void put_sized(struct dat_bytes *out, const char *text)
{
    dat_bytes_u64(out, strlen(text));
    dat_bytes_put(out, text, strlen(text));
}

static void put_headers(struct dat_bytes *out, const struct trd_page_layout *layout,
                        uint32_t page_size)
{
    static const char header_event[] = "# compressed entry header\n"
                                       "\ttype_len    :    5 bits\n"
                                       "\ttime_delta  :   27 bits\n"
                                       "\tarray       :   32 bits\n"
                                       "\n"
                                       "\tpadding     : type == 29\n"
                                       "\ttime_extend : type == 30\n"
                                       "\ttime_stamp : type == 31\n"
                                       "\tdata max type_len  == 28\n";
    struct dat_bytes page = { 0 };

    dat_bytes_print(&page,
                    "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                    "\tfield: local_t commit;\toffset:%u;\tsize:%u;\tsigned:1;\n"
                    "\tfield: int overwrite;\toffset:%u;\tsize:1;\tsigned:1;\n"
                    "\tfield: char data;\toffset:%u;\tsize:%u;\tsigned:1;\n",
                    layout->commit_offset, layout->commit_size, layout->commit_offset,
                    layout->data_offset, page_size - layout->data_offset);
    dat_bytes_text(out, "header_page");
    dat_bytes_u64(out, page.size);
    dat_bytes_put(out, page.bytes, page.size);
    dat_bytes_text(out, "header_event");
    put_sized(out, header_event);
    out->failed |= page.failed;
    dat_bytes_finish(&page);
}

static bool is_of_ftrace(const struct trd_schema *schema)
{
    return strcmp(schema->system, "ftrace") == 0;
}

static uint32_t count_of_system(const struct trd_catalog *catalog, const char *system)
{
    uint32_t count = 0;

    for (size_t i = 0; i < catalog->schema_count; i++)
        count += strcmp(catalog->schemas[i]->system, system) == 0;
    return count;
}

static void put_formats_of(struct dat_bytes *out, const struct trd_catalog *catalog,
                           const char *system)
{
    dat_bytes_u32(out, count_of_system(catalog, system));
    for (size_t i = 0; i < catalog->schema_count; i++)
        if (strcmp(catalog->schemas[i]->system, system) == 0)
            put_sized(out, catalog->schemas[i]->format_text);
}

/* Is it the first schema of its system? Those of ftrace have a section of their own. */
static bool begins_system(const struct trd_catalog *catalog, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(catalog->schemas[i]->system, catalog->schemas[index]->system) == 0)
            return false;
    return !is_of_ftrace(catalog->schemas[index]);
}

static void put_event_formats(struct dat_bytes *out, const struct trd_catalog *catalog,
                              uint32_t clr_base)
{
    size_t at = out->size;
    uint32_t systems = 0;

    dat_bytes_u32(out, 0);
    for (size_t i = 0; catalog && i < catalog->schema_count; i++) {
        if (!begins_system(catalog, i))
            continue;
        systems++;
        dat_bytes_text(out, catalog->schemas[i]->system);
        put_formats_of(out, catalog, catalog->schemas[i]->system);
    }
    if (clr_base) {
        systems++;
        dat_clr_put_formats(out, clr_base);
    }
    if (!out->failed)
        memcpy(out->bytes + at, &systems, sizeof(systems));
}

static void put_symbols(struct dat_bytes *out, const struct symbols *symbols)
{
    size_t at = out->size;
    uint32_t size;

    dat_bytes_u32(out, 0);
    for (size_t i = 0; i < symbols_count(symbols); i++) {
        struct symbol symbol;

        symbols_get(symbols, i, &symbol);
        dat_bytes_print(out, "%016" PRIx64 " t %s", symbol.address, symbol.name);
        if (symbol.module)
            dat_bytes_print(out, "\t[%s]", symbol.module);
        dat_bytes_put(out, "\n", 1);
    }
    size = (uint32_t)(out->size - at - sizeof(size));
    if (!out->failed)
        memcpy(out->bytes + at, &size, sizeof(size));
}

/* As the kernel escapes what it prints there. */
static void put_escaped(struct dat_bytes *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\n')
            dat_bytes_put(out, "\\n", 2);
        else if (*text == '\t')
            dat_bytes_put(out, "\\t", 2);
        else if (*text == '\\' || *text == '"')
            dat_bytes_print(out, "\\%c", *text);
        else
            dat_bytes_put(out, text, 1);
    }
}

static void put_printk(struct dat_bytes *out, const struct printk *printk)
{
    size_t at = out->size;
    const char *text;
    uint64_t address;
    uint32_t size;

    dat_bytes_u32(out, 0);
    for (size_t i = 0; (text = printk_get(printk, i, &address)); i++) {
        dat_bytes_print(out, "0x%" PRIx64 " : \"", address);
        put_escaped(out, text);
        dat_bytes_put(out, "\"\n", 2);
    }
    size = (uint32_t)(out->size - at - sizeof(size));
    if (!out->failed)
        memcpy(out->bytes + at, &size, sizeof(size));
}

void dat_sections_put(struct dat_bytes *out, const struct trd_catalog *catalog,
                      const struct trd_page_layout *layout, uint32_t page_size, uint32_t clr_base,
                      uint64_t *out_offsets)
{
    size_t at;

    at = out_offsets[DAT_OPTION_HEADER_INFO] = dat_section_open(out, DAT_OPTION_HEADER_INFO);
    put_headers(out, layout, page_size);
    dat_section_close(out, at);
    at = out_offsets[DAT_OPTION_FTRACE_EVENTS] = dat_section_open(out, DAT_OPTION_FTRACE_EVENTS);
    if (catalog)
        put_formats_of(out, catalog, "ftrace");
    else
        dat_bytes_u32(out, 0);
    dat_section_close(out, at);
    at = out_offsets[DAT_OPTION_EVENT_FORMATS] = dat_section_open(out, DAT_OPTION_EVENT_FORMATS);
    put_event_formats(out, catalog, clr_base);
    dat_section_close(out, at);
    if (!catalog)
        return;
    at = out_offsets[DAT_OPTION_KALLSYMS] = dat_section_open(out, DAT_OPTION_KALLSYMS);
    put_symbols(out, catalog->symbols);
    dat_section_close(out, at);
    at = out_offsets[DAT_OPTION_PRINTK] = dat_section_open(out, DAT_OPTION_PRINTK);
    put_printk(out, catalog->printk);
    dat_section_close(out, at);
}

void dat_sections_put_cmdlines(struct dat_bytes *out, const struct idmap *comms)
{
    size_t section = dat_section_open(out, DAT_OPTION_CMDLINES), at = out->size;
    uint64_t size;

    dat_bytes_u64(out, 0);
    for (size_t i = 0; i < comms->capacity; i++)
        if (comms->entries[i].value)
            dat_bytes_print(out, "%d %s\n", (int)comms->entries[i].a,
                            (const char *)comms->entries[i].value);
    size = out->size - at - sizeof(size);
    if (!out->failed)
        memcpy(out->bytes + at, &size, sizeof(size));
    dat_section_close(out, section);
}

#include "ftrace_catalog.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"

#define BTF_PATH "/sys/kernel/btf/vmlinux"

/* They are not switched on, they come with what causes them, like a write to trace_marker. */
static const char *const own_events[] = { "ftrace:print",      "ftrace:bprint",
                                          "ftrace:bputs",      "ftrace:raw_data",
                                          "ftrace:user_stack", "ftrace:kernel_stack" };

#define OWN_COUNT (sizeof(own_events) / sizeof(own_events[0]))

static int add_header_page(struct trd_catalog *catalog, const struct tracefs_instance *instance)
{
    size_t size;
    char *text = tracefs_read(instance, "events/header_page", &size);
    int result = text ? trd_catalog_set_header_page(catalog, text, size) : -errno;

    free(text);
    return result;
}

/* A module may be gone since its events were listed: its records will not come. */
static void add_format(struct trd_catalog *catalog, const struct tracefs_instance *instance,
                       const char *full_name)
{
    int system_length = (int)strcspn(full_name, ":");
    char system[128], name[320];
    size_t size;
    char *text;

    (void)snprintf(system, sizeof(system), "%.*s", system_length, full_name);
    (void)snprintf(name, sizeof(name), "events/%s/%.128s/format", system,
                   full_name + system_length + 1);
    text = tracefs_read(instance, name, &size);
    if (!text || trd_catalog_add_format(catalog, system, text, size) != 0)
        log_verbose("the format of %s cannot be read", full_name);
    free(text);
}

static void add_formats(struct trd_catalog *catalog, const struct tracefs_instance *instance,
                        const struct ftrace_events *events)
{
    for (size_t i = 0; i < OWN_COUNT; i++)
        add_format(catalog, instance, own_events[i]);
    for (size_t i = 0; i < events->count; i++)
        add_format(catalog, instance, events->names[i]);
}

static int create(struct trd_catalog **out, const struct tracefs_instance *instance,
                  const struct ftrace_events *events, bool with_btf)
{
    size_t size;
    char *btf;
    int result = trd_catalog_create(out, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, sizeof(long));

    if (result == 0)
        result = add_header_page(*out, instance);
    if (result != 0)
        return result;
    if (with_btf) {
        btf = read_whole_file(BTF_PATH, &size);
        if (!btf || trd_catalog_add_btf(*out, (const uint8_t *)btf, size) != 0)
            log_verbose("the kernel's type information cannot be read: path=" BTF_PATH);
        free(btf);
    }
    add_formats(*out, instance, events);
    return 0;
}

static bool has_print_error(const struct trd_catalog *catalog)
{
    const struct trd_schema *schema;

    for (size_t i = 0; (schema = trd_catalog_get(catalog, i)); i++)
        if (schema->print_error)
            return true;
    return false;
}

static bool has_symbols(const struct trd_catalog *catalog)
{
    const struct trd_schema *schema;

    for (size_t i = 0; (schema = trd_catalog_get(catalog, i)); i++)
        for (uint32_t j = 0; j < schema->field_count; j++)
            if (schema->fields[j].meaning == TRD_MEANING_SYMBOL)
                return true;
    return false;
}

static void add_names(struct trd_catalog *catalog, const struct tracefs_instance *instance,
                      struct ftrace_symbols *symbols)
{
    size_t size;
    char *text = tracefs_read_root(instance, "printk_formats", &size);

    if (text)
        (void)trd_catalog_add_printk_formats(catalog, text, size);
    free(text);
    if (!has_symbols(catalog))
        return;
    text = ftrace_symbols_take(symbols, &size);
    if (!text || trd_catalog_add_kallsyms(catalog, text, size) != 0)
        log_verbose("kernel symbols cannot be read: path=" FTRACE_SYMBOLS_PATH);
    free(text);
}

int ftrace_catalog_create(struct trd_catalog **out, const struct tracefs_instance *instance,
                          const struct ftrace_events *events, struct ftrace_symbols *symbols)
{
    int result;

    *out = NULL;
    result = create(out, instance, events, false);
    if (result == 0 && has_print_error(*out)) {
        trd_catalog_destroy(*out);
        *out = NULL;
        result = create(out, instance, events, true);
    }
    if (result == 0)
        add_names(*out, instance, symbols);
    return result;
}

/*
 * Format text and record bytes from nowhere: | flags | format text | NUL | record |. The schema is
 * made, its event printed and its fields looked at, at several lengths of the record.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tracerd/catalog.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void print_all(const struct trd_catalog *catalog, const struct trd_schema *schema,
                      const uint8_t *data, size_t size)
{
    char out[512];

    for (size_t cut = 0; cut <= size && cut < 4; cut++) {
        /* A copy of exactly that size, so that a step too far is seen. */
        uint8_t *record = malloc(size - cut + 1);

        if (!record)
            return;
        memcpy(record, data, size - cut);
        (void)trd_event_print(catalog, schema, record, size - cut, out, cut ? cut : sizeof(out));
        free(record);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char kallsyms[] = "ffffffff81000000 T one\nffffffff81000010 t two\t[mod]\n";
    static const char printk[] = "0x1 : \"%d %s %hx\\n\"\n";
    struct trd_catalog *catalog;
    const uint8_t *end;

    if (size < 1 || trd_catalog_create(&catalog, bytes[0] & 1, bytes[0] & 2 ? 4 : 8) != 0)
        return 0;
    (void)trd_catalog_add_kallsyms(catalog, kallsyms, sizeof(kallsyms) - 1);
    (void)trd_catalog_add_printk_formats(catalog, printk, sizeof(printk) - 1);
    end = memchr(bytes + 1, '\0', size - 1);
    if (!end)
        end = bytes + size;
    if (trd_catalog_add_format(catalog, bytes[0] & 4 ? "ftrace" : "test", (const char *)bytes + 1,
                               (size_t)(end - bytes - 1)) == 0)
        print_all(catalog, trd_catalog_get(catalog, 0), end, (size_t)(bytes + size - end));
    trd_catalog_destroy(catalog);
    return 0;
}

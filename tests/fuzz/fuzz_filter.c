/* What people and peers may type as a filter, run on records of any bytes: the text ends at a NUL,
 * the record begins behind it. */
#include <stdlib.h>
#include <string.h>

#include "tracerd/filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define FIELD(type, name, offset, size, sign)                                                      \
    "\tfield:" type " " name ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #sign ";\n"

static const char format[] = "name: event\nID: 1\nformat:\n" FIELD("unsigned short", "common_type",
                                                                   0, 2, 0)
    FIELD("int", "common_pid", 4, 4, 1) "\n" FIELD("char", "comm[16]", 8, 16, 0) FIELD(
        "long", "state", 24, 8, 1) FIELD("__data_loc char[]", "note", 32, 4, 0)
        FIELD("__data_loc u32[]", "ids", 36, 4, 0) FIELD("s16", "array[4]", 40, 8, 1) FIELD(
            "u8", "tail[]", 48, 0,
            0) "\n"
               "print fmt: \"%s\", __print_flags(REC->state, \"|\", { 1, \"S\" }, { 2, \"D\" })\n";

static const struct trd_catalog *get_catalog(void)
{
    static struct trd_catalog *catalog;

    if (!catalog && (trd_catalog_create(&catalog, false, 8) != 0 ||
                     trd_catalog_add_format(catalog, "fuzz", format, sizeof(format) - 1) != 0))
        abort();
    return catalog;
}

/* A buffer of exactly the record's size, so that reading beyond it is seen. */
static void match(struct trd_filter *filter, const struct trd_schema *schema, const uint8_t *bytes,
                  size_t size)
{
    struct trd_record record;
    uint8_t *data = malloc(size + 1);

    if (!data)
        abort();
    memcpy(data, bytes, size);
    data = realloc(data, size ? size : 1);
    trd_record_init(&record);
    record.schema = schema;
    record.data = data;
    record.size = (uint32_t)size;
    record.name = schema ? NULL : "derived";
    record.args_json = schema ? NULL : (const char *)data;
    record.args_json_size = schema ? 0 : (uint32_t)size;
    if (trd_filter_match(filter, &record) != trd_filter_match(filter, &record))
        abort();
    free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct trd_catalog *catalog = get_catalog();
    const uint8_t *end = memchr(bytes, '\0', size);
    struct trd_filter *filter;
    char error[256] = "";
    size_t left;

    if (!end)
        return 0;
    left = size - (size_t)(end + 1 - bytes);
    if (trd_filter_create(&filter, (const char *)bytes, error, sizeof(error)) != 0) {
        if (error[0] == '\0')
            abort();
        return 0;
    }
    (void)trd_filter_check(filter, &catalog, 1, error, sizeof(error));
    match(filter, trd_catalog_find(catalog, 1), end + 1, left);
    match(filter, trd_clr_schema(0x40), end + 1, left);
    match(filter, NULL, end + 1, left);
    trd_filter_destroy(filter);
    return 0;
}

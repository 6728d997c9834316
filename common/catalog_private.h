/* The inside of a catalog, shared by the files that fill and ask it. */
#ifndef TRD_COMMON_CATALOG_PRIVATE_H
#define TRD_COMMON_CATALOG_PRIVATE_H

#include "btf.h"
#include "bytes.h"
#include "printk.h"
#include "symbols.h"
#include "tracerd/catalog.h"
#include "tracerd/page.h"

struct tep_handle;

struct trd_catalog {
    struct tep_handle *tep;  /* owned: header page, command lines */
    struct btf *btf;         /* owned; NULL until one was added */
    struct symbols *symbols; /* owned */
    struct printk *printk;   /* owned */
    struct trd_page_layout layout;
    struct trd_schema **schemas; /* owned, in the order they were added */
    size_t schema_count;
    size_t schema_capacity;
    const struct trd_schema **by_name; /* owned; open addressing, twice schema_capacity slots */
    const struct trd_field *pid_field; /* common_pid: the same in every format of a kernel */
    struct trd_schema *by_id[65536];   /* ids are 16 bits wide in every record */
};

/* What trd_page_event_record finds, for whoever reads many. NULL: no format has its id. */
static inline const struct trd_schema *catalog_find_event(const struct trd_catalog *catalog,
                                                          const struct trd_page_event *event)
{
    return event->size >= 2 ? catalog->by_id[load_u16(event->data, catalog->layout.big_endian)]
                            : NULL;
}

static inline int32_t catalog_event_tid(const struct trd_catalog *catalog,
                                        const struct trd_page_event *event)
{
    const struct trd_field *pid = catalog->pid_field;

    if (!pid || (size_t)pid->offset + pid->size > event->size)
        return -1;
    return (int32_t)load_int(event->data + pid->offset, pid->size, true,
                             catalog->layout.big_endian);
}

/* A schema from one format text; the catalog owns it afterwards. */
int format_parse(struct trd_catalog *catalog, const char *system, const char *text, size_t size,
                 struct trd_schema **out);
void format_destroy(struct trd_schema *schema);

#endif

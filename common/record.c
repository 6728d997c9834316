#include "tracerd/record.h"

#include <string.h>

void trd_record_init(struct trd_record *record)
{
    memset(record, 0, sizeof(*record));
    record->cpu = -1;
    record->pid = -1;
    record->tid = -1;
}

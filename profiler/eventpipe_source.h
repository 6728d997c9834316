/*
 * Events of managed EventSources as they travel: what the source wrote, byte for byte, with a
 * number that names its description; the description goes ahead once for each listener. Nothing is
 * converted here. Any thread, no lock.
 */
#ifndef TRD_PROFILER_EVENTPIPE_SOURCE_H
#define TRD_PROFILER_EVENTPIPE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "corprof.h"

struct corprof_info;

/* As delivered; borrowed during the call. */
struct eventpipe_delivery {
    EVENTPIPE_PROVIDER provider;
    uint32_t id;
    uint32_t version;
    const uint8_t *metadata;
    size_t metadata_size;
    const uint8_t *data;
    size_t data_size;
    const GUID *activity; /* NULL = none */
};

void eventpipe_source_emit(struct corprof_info *info, const struct eventpipe_delivery *delivery);
/* The listener has gone: the next one knows no description. Before anything is written for that
 * one, so at the end of a connection and not at the beginning of the next. */
void eventpipe_source_forget(void);
/* The provider's address belongs to a new one: descriptions of the old one are not used again. */
void eventpipe_source_forget_provider(EVENTPIPE_PROVIDER provider);

#endif

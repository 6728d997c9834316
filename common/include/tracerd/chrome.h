/*
 * Records to a Chrome trace (`.json`, the JSON object format), which chrome://tracing, Perfetto and
 * speedscope open: spans are complete events ("X"), CLR and kernel events instants ("i"), managed
 * names metadata ("M"), losses global instants. Times are microseconds since the first record, with
 * three decimals: such viewers keep them as doubles.
 *
 * Source of the format: "Trace Event Format", Google. One thread at a time.
 */
#ifndef TRACERD_CHROME_H
#define TRACERD_CHROME_H

#include <stddef.h>

#include "tracerd/export.h"
#include "tracerd/json.h"
#include "tracerd/record.h"

struct trd_chrome;

/* `names` as in trd_json_create. `write` takes all bytes: 0 or a negative errno. */
TRD_EXPORT int trd_chrome_create(struct trd_chrome **out, const struct trd_json_names *names,
                                 int (*write)(void *context, const void *bytes, size_t size),
                                 void *context);
TRD_EXPORT void trd_chrome_destroy(struct trd_chrome *chrome);
/* As trd_json_add_catalog. */
TRD_EXPORT void trd_chrome_add_catalog(struct trd_chrome *chrome,
                                       const struct trd_catalog *catalog);
/* In the order of the stream. 0, what `write` returned, or -ENOMEM. */
TRD_EXPORT int trd_chrome_record(struct trd_chrome *chrome, const struct trd_record *record);
/* Closes the object: nothing may follow. */
TRD_EXPORT int trd_chrome_end(struct trd_chrome *chrome);

#endif

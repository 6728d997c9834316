/* What the info_*.c do before a question and to its answer; for them only. */
#ifndef TRD_PROFILER_INFO_ANSWER_H
#define TRD_PROFILER_INFO_ANSWER_H

#include "info.h"

/* All of it, so that a name the runtime only half wrote does not go on with what lay there. */
void info_clear_name(struct info_name *name);
/*
 * The length that the runtime reports may include the NUL or not, exceed the buffer (the text is
 * cut then), be 0, or be a lie: the text ends at its NUL, and at the length where that is less.
 * True if there is any text.
 */
bool info_settle_name(struct info_name *name, ULONG length);
/* A token of row 0 names nothing, whatever its table. */
bool info_is_nil(mdToken token);

#endif

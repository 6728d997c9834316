/*
 * The message an exception was made with, read off the object: the field that System.Exception
 * keeps it in. The property of that name is code of the application's and is not run. Where the
 * field lies is asked of the runtime at the first exception; which classes have it is remembered.
 */
#ifndef TRD_PROFILER_EXCEPTION_MESSAGE_H
#define TRD_PROFILER_EXCEPTION_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "info.h"

#define EXCEPTION_MESSAGE_UNITS_MAX 256
#define EXCEPTION_MESSAGE_MAX (3 * EXCEPTION_MESSAGE_UNITS_MAX) /* bytes of UTF-8 */

/*
 * The class of an exception object, 0 if the runtime does not say. Asked once for each class, as
 * long as what an object begins with is its class, which that one question finds out. Only inside a
 * callback during which no collection can begin, as those that come with an object are.
 */
ClassID exception_class(struct corprof_info *info, ObjectID object);

/*
 * `class_id` is the object's, 0 if it is not known. Into `text` (of EXCEPTION_MESSAGE_MAX, no NUL);
 * 0 if there is none or it cannot be told. Only inside a callback during which no collection can
 * begin, as ExceptionThrown is. *out_cut: there is more of it.
 */
size_t exception_message(struct corprof_info *info, ClassID class_id, ObjectID object, char *text,
                         bool *out_cut);

/* A module is gone, and its class ids may come again for something else. */
void exception_message_forget(void);

#endif

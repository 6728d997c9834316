/*
 * A process that looks to the profiler like a runtime: a forked child that loads the class as a
 * runtime does, is given the fake ICorProfilerInfo, and calls back as its story says. The parent is
 * the daemon. So the whole profiler runs, without .NET, under sanitizers and valgrind.
 */
#ifndef TRD_TESTS_TRACED_H
#define TRD_TESTS_TRACED_H

#include <sys/types.h>

#include "corprof.h"
#include "reader.h"

/* As a runtime holds it: the vtable behind the object. */
struct traced_object {
    const struct corprof_callback_vtbl *vtbl;
};

struct traced {
    pid_t pid;
    int listener;
    char directory[64];
    char path[96]; /* of the socket */
};

/* In the child; what it returns ends the process. */
typedef int (*traced_story)(struct traced *traced);

/* A socket that nobody listens on yet, and then one that somebody does. */
void traced_prepare(struct traced *traced);
void traced_listen(struct traced *traced);
void traced_start(struct traced *traced, traced_story story);
/* Waits for the end of the process and returns its wait status. */
int traced_wait(struct traced *traced);
void traced_finish(struct traced *traced);

/* For stories. A failed expectation ends the child with a message and status 99. */
#define TRACED_EXPECT(condition) traced_expect(condition, #condition, __FILE__, __LINE__)
void traced_expect(bool condition, const char *text, const char *file, int line);
/* Waits until the condition holds; 20 s at most. */
#define TRACED_UNTIL(condition)                                                                    \
    do {                                                                                           \
        for (int traced_waited_ = 0; !(condition); traced_waited_++)                               \
            traced_pause(traced_waited_ < 20000, #condition);                                      \
    } while (0)
void traced_pause(bool expected, const char *text);

/* Until the parent allows it to go on: with its end, in most stories. */
void traced_wait_for_parent(struct traced *traced);
bool traced_may_go_on(struct traced *traced);
/* In the parent. */
void traced_let_go_on(struct traced *traced);

/* The class by its id, LoadAsNotificationOnly asked; NULL if the class is refused. */
struct traced_object *traced_load(const uint8_t *class_id, bool *out_notification_only);
/* Loaded from the environment, initialized with the fake runtime. */
struct traced_object *traced_initialize(struct traced *traced);
/* One method compiled, one exception, one collection: 14 events and a definition. */
#define TRACED_ROUND_EVENTS 14
void traced_round(struct traced_object *object, FunctionID function);

/* What the fake's runtime, a .NET 10, has to tell. */
#define TRACED_CATEGORIES TRD_CATEGORIES_ALL
/* For parents: the connection as a daemon takes it. */
#define TRACED_WAIT_MS 20000
void traced_welcome(struct traced *traced, struct reader *reader, uint32_t categories);
/* A counter of the rings, over all of them. */
#define TRACED_SUM(reader, member) traced_sum(reader, offsetof(struct trd_ring, member))
uint64_t traced_sum(struct reader *reader, size_t member);

/* Everything that came, added up. */
#define TRACED_FOREVER UINT64_MAX
struct traced_sums {
    uint64_t events;    /* without `lost` */
    uint64_t caught_up; /* of those */
    uint64_t lost;      /* in-band and by LOST */
    uint64_t marks;
    bool has_bye;
    struct trd_goodbye bye;
    uint16_t first_id;
    uint64_t by_id[256];
};
/* 0 at the end of the stream, negative on error. Stops early, with 1, behind `events_max` events.
 */
int traced_collect(struct reader *reader, struct traced_sums *sums, uint64_t events_max);
/* Adds what the rings of a dead process still hold. */
void traced_drain(struct reader *reader, struct traced_sums *sums);

#endif

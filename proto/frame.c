#include "frame.h"

#include <errno.h>
#include <string.h>

#include "provider.h"

static int type_is_known(uint8_t type)
{
    return (type >= TRD_FRAME_HELLO && type <= TRD_FRAME_PONG) ||
           (type >= TRD_FRAME_WELCOME && type <= TRD_FRAME_SWEEP);
}

int trd_frame_next(const uint8_t *bytes, size_t size, struct trd_frame_head *out_head,
                   const uint8_t **out_payload)
{
    struct trd_frame_head head;

    if (size < sizeof(head))
        return 0;
    memcpy(&head, bytes, sizeof(head));
    if (head.size > TRD_FRAME_SIZE_MAX || !type_is_known(head.type) || head.zero[0] ||
        head.zero[1] || head.zero[2])
        return -EBADMSG;
    if (size - sizeof(head) < head.size)
        return 0;

    *out_head = head;
    *out_payload = bytes + sizeof(head);
    return 1;
}

void trd_frame_head_init(struct trd_frame_head *head, enum trd_frame_type type, uint32_t size)
{
    *head = (struct trd_frame_head){ .size = size, .type = (uint8_t)type };
}

/* A later version may append members: only what we know is copied. */
static int copy_payload(const uint8_t *payload, size_t size, void *out, size_t out_size)
{
    if (size < out_size)
        return -EBADMSG;
    memcpy(out, payload, out_size);
    return 0;
}

/* The same for a payload whose last members may be absent: they are 0 then. */
static int copy_payload_from(const uint8_t *payload, size_t size, size_t size_min, void *out,
                             size_t out_size)
{
    if (size < size_min)
        return -EBADMSG;
    memset(out, 0, out_size);
    memcpy(out, payload, size < out_size ? size_min : out_size);
    return 0;
}

static int is_power_of_two(uint32_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

int trd_frame_hello(const uint8_t *payload, size_t size, struct trd_hello *out)
{
    struct trd_hello hello;

    if (copy_payload_from(payload, size, TRD_HELLO_SIZE_MIN, &hello, sizeof(hello)) != 0 ||
        hello.magic != TRD_PROTOCOL_MAGIC)
        return -EBADMSG;
    if (hello.version != TRD_PROTOCOL_VERSION)
        return -EPROTONOSUPPORT;
    if ((hello.clock != TRD_CLOCK_MONOTONIC && hello.clock != TRD_CLOCK_TSC) ||
        !is_power_of_two(hello.ring_size) || hello.ring_size < TRD_RING_SIZE_MIN ||
        hello.ring_size > TRD_RING_SIZE_MAX || hello.ring_count == 0 ||
        hello.ring_count > TRD_RING_COUNT_MAX)
        return -EBADMSG;
    if (hello.clock == TRD_CLOCK_TSC && size < sizeof(hello))
        return -EBADMSG;
    *out = hello;
    return 0;
}

int trd_frame_welcome(const uint8_t *payload, size_t size, struct trd_welcome *out)
{
    struct trd_welcome welcome;

    if (copy_payload(payload, size, &welcome, sizeof(welcome)) != 0 ||
        welcome.magic != TRD_PROTOCOL_MAGIC)
        return -EBADMSG;
    if (welcome.version != TRD_PROTOCOL_VERSION)
        return -EPROTONOSUPPORT;
    if (welcome.mark_interval_ms == 0 || welcome.mark_interval_ms > TRD_MARK_INTERVAL_MAX_MS)
        return -EBADMSG;
    *out = welcome;
    return 0;
}

int trd_frame_mark(const uint8_t *payload, size_t size, struct trd_mark *out)
{
    return copy_payload_from(payload, size, TRD_MARK_SIZE_MIN, out, sizeof(*out));
}

int trd_frame_ring_lost(const uint8_t *payload, size_t size, struct trd_ring_lost *out)
{
    return copy_payload(payload, size, out, sizeof(*out));
}

int trd_frame_goodbye(const uint8_t *payload, size_t size, struct trd_goodbye *out)
{
    struct trd_goodbye goodbye;

    if (copy_payload(payload, size, &goodbye, sizeof(goodbye)) != 0 ||
        goodbye.dropped > goodbye.produced)
        return -EBADMSG;
    *out = goodbye;
    return 0;
}

int trd_frame_categories(const uint8_t *payload, size_t size, struct trd_categories *out)
{
    return copy_payload(payload, size, out, sizeof(*out));
}

int trd_frame_ping(const uint8_t *payload, size_t size, struct trd_ping *out)
{
    return copy_payload(payload, size, out, sizeof(*out));
}

int trd_frame_resolve(const uint8_t *payload, size_t size, struct trd_resolve *out,
                      uint64_t out_addresses[TRD_RESOLVE_MAX])
{
    struct trd_resolve resolve;

    if (copy_payload(payload, size, &resolve, sizeof(resolve)) != 0 || resolve.count == 0 ||
        resolve.count > TRD_RESOLVE_MAX ||
        (size - sizeof(resolve)) / sizeof(out_addresses[0]) < resolve.count)
        return -EBADMSG;
    memcpy(out_addresses, payload + sizeof(resolve), resolve.count * sizeof(out_addresses[0]));
    *out = resolve;
    return 0;
}

int trd_frame_batch(const uint8_t *payload, size_t size, struct trd_batch *out,
                    const uint8_t **out_records, size_t *out_size)
{
    struct trd_batch batch;

    if (copy_payload(payload, size, &batch, sizeof(batch)) != 0 ||
        batch.position % TRD_EVENT_ALIGN != 0 || batch.ring >= TRD_RING_COUNT_MAX ||
        (size - sizeof(batch)) % TRD_EVENT_ALIGN != 0)
        return -EBADMSG;
    *out = batch;
    *out_records = payload + sizeof(batch);
    *out_size = size - sizeof(batch);
    return 0;
}

int trd_frame_providers(const uint8_t *payload, size_t size)
{
    const char *list = (const char *)payload;
    struct trd_provider provider;
    size_t count = 0;
    int result;

    if (size > TRD_PROVIDERS_SIZE_MAX)
        return -EBADMSG;
    while ((result = trd_provider_next(&list, &size, &provider)) == 1)
        count++;
    return result == 0 && count <= TRD_PROVIDERS_MAX ? 0 : -EBADMSG;
}

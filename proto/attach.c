#include "attach.h"

#include <errno.h>
#include <string.h>

int trd_attach_encode(const char *socket_path, uint32_t categories, const struct trd_buffer *buffer,
                      uint8_t *out)
{
    size_t length = strlen(socket_path) + 1;
    struct trd_attach attach = { .magic = TRD_ATTACH_MAGIC,
                                 .version = TRD_ATTACH_VERSION,
                                 .categories = categories,
                                 .buffer = *buffer };

    if (length > TRD_SOCKET_PATH_MAX)
        return -ENAMETOOLONG;
    attach.size = (uint16_t)(sizeof(attach) + length);
    memcpy(out, &attach, sizeof(attach));
    memcpy(out + sizeof(attach), socket_path, length);
    return attach.size;
}

int trd_attach_decode(const uint8_t *bytes, size_t size, struct trd_attach *out, char *path)
{
    struct trd_attach attach;
    size_t length;

    if (size < sizeof(attach))
        return -EBADMSG;
    memcpy(&attach, bytes, sizeof(attach));
    if (attach.magic != TRD_ATTACH_MAGIC || attach.version != TRD_ATTACH_VERSION ||
        attach.size > size || attach.size <= sizeof(attach) || attach.size > TRD_ATTACH_SIZE_MAX ||
        !trd_buffer_is_sound(&attach.buffer))
        return -EBADMSG;
    length = attach.size - sizeof(attach);
    if (memchr(bytes + sizeof(attach), '\0', length) != bytes + attach.size - 1)
        return -EBADMSG;
    memcpy(path, bytes + sizeof(attach), length);
    *out = attach;
    return 0;
}

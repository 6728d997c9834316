#include "copy_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <unistd.h>

#define PIECE (1u << 30) /* of one call; the kernel takes no more than 2 GiB */

static int copy_bytes(int from, int to)
{
    ssize_t sent;

    do
        sent = sendfile(to, from, NULL, PIECE);
    while (sent > 0);
    return sent < 0 ? -errno : 0;
}

int copy_file(const char *from, const char *to, mode_t mode)
{
    int source = open(from, O_RDONLY | O_CLOEXEC);
    int copy, result;

    if (source < 0)
        return -errno;
    copy = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (copy < 0) {
        result = -errno;
        close(source);
        return result;
    }
    result = copy_bytes(source, copy);
    if (close(copy) != 0 && result == 0)
        result = -errno;
    close(source);
    if (result != 0)
        (void)unlink(to);
    return result;
}

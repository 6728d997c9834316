/* `tracerd trigger`: fires the flight recorder of a process, or every one that is armed here. */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "commands.h"
#include "flight_control.h"
#include "log.h"
#include "runtime_dir.h"

/* The recorder's own line, or a sentence on why there is none. */
static int fire(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    char answer[FLIGHT_ANSWER_MAX] = "";
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ssize_t got = -1;

    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
        got = read(fd, answer, sizeof(answer) - 1);
    if (got <= 0)
        log_error("no flight recorder answers: path=%s, error=\"%s\"", path,
                  strerror(got < 0 ? errno : ECONNRESET));
    else
        log_notice("%s: %.*s", path, (int)strcspn(answer, "\n"), answer);
    if (fd >= 0)
        close(fd);
    return got > 0 ? EXIT_COMPLETE : EXIT_NOTHING;
}

static int fire_all(void)
{
    glob_t found;
    int result = EXIT_NOTHING;

    if (glob(RUNTIME_DIR_DEFAULT FLIGHT_CONTROL_PATTERN, 0, NULL, &found) != 0) {
        log_error("no flight recorder is armed: tracerd --pid PID --flight 30s arms one");
        return EXIT_NOTHING;
    }
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (fire(found.gl_pathv[i]) == EXIT_COMPLETE)
            result = EXIT_COMPLETE;
    globfree(&found);
    return result;
}

int command_trigger(const struct options *options)
{
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];

    if (options->pid == 0)
        return fire_all();
    flight_control_path(options->pid, path, sizeof(path));
    return fire(path);
}

/* SPDX-License-Identifier: MIT */
#include "host/control/inherited.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define FIRST 3
#define COUNT_MAX 1024 /* a limit for a wrong number */

/* The number of descriptors that are for this process. */
static int count_of(void)
{
    const char *process = getenv("LISTEN_PID");
    const char *count = getenv("LISTEN_FDS");
    long number;

    if (!process || !count || strtol(process, NULL, 10) != (long)getpid())
        return 0;
    number = strtol(count, NULL, 10);
    return number < 0 ? 0 : number > COUNT_MAX ? COUNT_MAX : (int)number;
}

static bool has_number(int descriptor, int option, int wanted)
{
    int number;
    socklen_t size = sizeof number;

    return getsockopt(descriptor, SOL_SOCKET, option, &number, &size) == 0 && number == wanted;
}

static bool listens_at(int descriptor, const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNSPEC };
    /* a byte less: a path may fill the field without a NUL */
    socklen_t size = sizeof address - 1;

    return getsockname(descriptor, (struct sockaddr *)&address, &size) == 0 &&
           address.sun_family == AF_UNIX && has_number(descriptor, SO_TYPE, SOCK_STREAM) &&
           has_number(descriptor, SO_ACCEPTCONN, 1) && strcmp(address.sun_path, path) == 0;
}

int inherited_listener(const char *path)
{
    struct stat information;
    int count = count_of();

    if (count == 0 || lstat(path, &information) != 0 || !S_ISSOCK(information.st_mode))
        return -1;
    for (int descriptor = FIRST; descriptor < FIRST + count; descriptor++)
        if (listens_at(descriptor, path))
            return fcntl(descriptor, F_DUPFD_CLOEXEC, FIRST + count);
    return -1;
}

/* SPDX-License-Identifier: MIT */
#include "host/log/screen.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <weir/status.h>

#define STATUS_MAX 1024
#define WIDTH_UNKNOWN 80
#define WIPE "\r\033[K"

struct screen {
    int output;              /* const */
    int error;               /* const */
    bool status_possible;    /* const */
    bool output_is_terminal; /* const */
    pthread_mutex_t printing;
    pthread_mutex_t terminal;
    _Atomic bool stuck;      /* advisory: the last line was not written */
    char status[STATUS_MAX]; /* terminal: the progress line, "" = none */
};

static bool can_move_cursor(int descriptor)
{
    const char *type = getenv("TERM");

    return isatty(descriptor) && type && type[0] && strcmp(type, "dumb") != 0;
}

struct screen *screen_create(int output, int error)
{
    struct screen *screen = calloc(1, sizeof *screen);

    if (!screen)
        return NULL;
    screen->output = output;
    screen->error = error;
    screen->status_possible = can_move_cursor(error);
    screen->output_is_terminal = isatty(output);
    if (pthread_mutex_init(&screen->printing, NULL) != 0)
        goto fail_screen;
    if (pthread_mutex_init(&screen->terminal, NULL) != 0)
        goto fail_printing;
    return screen;

fail_printing:
    pthread_mutex_destroy(&screen->printing);
fail_screen:
    free(screen);
    return NULL;
}

void screen_destroy(struct screen *screen)
{
    if (!screen)
        return;
    screen_status(screen, "");
    pthread_mutex_destroy(&screen->terminal);
    pthread_mutex_destroy(&screen->printing);
    free(screen);
}

static struct timespec time_limit_from_now(void)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until); /* the clock of pthread_mutex_timedlock */
    until.tv_nsec += SCREEN_TIMEOUT_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return until;
}

static bool is_stuck(const struct screen *screen)
{
    /* Relaxed: an old value costs one wait more, or one line. */
    return atomic_load_explicit(&screen->stuck, memory_order_relaxed);
}

static void set_stuck(struct screen *screen, bool stuck)
{
    atomic_store_explicit(&screen->stuck, stuck, memory_order_relaxed);
}

/* False: another thread prints to a terminal that its user has stopped. Nobody waits for that
 * thread longer than SCREEN_TIMEOUT_MS. */
static bool lock_terminal(struct screen *screen)
{
    struct timespec until = time_limit_from_now();
    bool locked = pthread_mutex_trylock(&screen->terminal) == 0;

    if (!locked && !is_stuck(screen))
        locked = pthread_mutex_timedlock(&screen->terminal, &until) == 0;
    if (!locked)
        set_stuck(screen, true);
    return locked;
}

/* True when a write of up to PIPE_BUF bytes would not wait. */
static bool is_writable(int descriptor, int timeout_ms)
{
    struct pollfd wanted = { .fd = descriptor, .events = POLLOUT };
    int ready;

    do
        ready = poll(&wanted, 1, timeout_ms);
    while (ready < 0 && errno == EINTR);
    return ready > 0;
}

/* 0, or the errno of a failed write; `*size` becomes the number of unwritten bytes. */
static int write_rest(int descriptor, const char *text, size_t *size)
{
    while (*size) {
        ssize_t written = write(descriptor, text, *size);

        if (written > 0) {
            text += written;
            *size -= (size_t)written;
        } else if (written < 0 && errno == EAGAIN) {
            (void)is_writable(descriptor, -1);
        } else if (written < 0 && errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

static int write_whole(int descriptor, const char *text, size_t size)
{
    return write_rest(descriptor, text, &size);
}

/* One system call for all parts, so that other writers of the terminal cannot come between. */
static int write_around_status(struct screen *screen, const char *line, size_t size)
{
    size_t wipe = screen->status[0] ? sizeof WIPE - 1 : 0;
    struct iovec parts[] = {
        { .iov_base = (char *)WIPE, .iov_len = wipe },
        { .iov_base = (char *)line, .iov_len = size },
        { .iov_base = screen->status, .iov_len = strlen(screen->status) },
    };
    ssize_t written;

    do
        written = writev(screen->error, parts, 3);
    while (written < 0 && errno == EINTR);
    if (written < 0)
        return errno == EAGAIN ? WEIR_EFULL : WEIR_ECLOSED;
    if ((size_t)written < wipe + size && (size_t)written >= wipe)
        return write_whole(screen->error, line + ((size_t)written - wipe),
                           size - ((size_t)written - wipe)) == 0
                   ? WEIR_OK
                   : WEIR_ECLOSED;
    return WEIR_OK;
}

int screen_log(struct screen *screen, const char *line, size_t size)
{
    int status = WEIR_EFULL;

    if (!lock_terminal(screen))
        return WEIR_EFULL;
    if (is_writable(screen->error, is_stuck(screen) ? 0 : SCREEN_TIMEOUT_MS))
        status = write_around_status(screen, line, size);
    set_stuck(screen, status != WEIR_OK);
    pthread_mutex_unlock(&screen->terminal);
    return status;
}

static int print_around_status(struct screen *screen, const char *text, size_t *size)
{
    size_t length = strlen(screen->status);
    int error;

    if (length)
        (void)write_whole(screen->error, WIPE, sizeof WIPE - 1);
    error = write_rest(screen->output, text, size);
    if (length)
        (void)write_whole(screen->error, screen->status, length);
    return error;
}

int screen_print(struct screen *screen, const char *text, size_t *size, int *out_error)
{
    int error;

    pthread_mutex_lock(&screen->printing);
    if (screen->output_is_terminal && screen->status_possible) {
        pthread_mutex_lock(&screen->terminal);
        error = print_around_status(screen, text, size);
        pthread_mutex_unlock(&screen->terminal);
    } else {
        error = write_rest(screen->output, text, size);
    }
    pthread_mutex_unlock(&screen->printing);
    if (error == 0)
        return WEIR_OK;
    *out_error = error;
    return WEIR_ECLOSED;
}

void screen_status(struct screen *screen, const char *text)
{
    size_t length = strnlen(text, STATUS_MAX - 1);

    if (!screen->status_possible || !lock_terminal(screen))
        return;
    if ((length || screen->status[0]) && is_writable(screen->error, 0)) {
        memcpy(screen->status, text, length);
        screen->status[length] = '\0';
        if (write_whole(screen->error, WIPE, sizeof WIPE - 1) == 0)
            (void)write_whole(screen->error, text, length);
    }
    pthread_mutex_unlock(&screen->terminal);
}

bool screen_can_show_status(const struct screen *screen)
{
    return screen->status_possible;
}

size_t screen_width(const struct screen *screen)
{
    struct winsize size;

    if (ioctl(screen->error, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return WIDTH_UNKNOWN;
    return size.ws_col;
}

/* SPDX-License-Identifier: MIT */
/*
 * The plugin `batches`: each worker of batches.reader connects to a socket, and has a thread that
 * reads batches of numbers from the socket. Each number is a task of another pool.
 *
 * The thread does one thing after the other: it reads a line, submits a group, waits for the group,
 * and answers. The first composite number, the time-out and the end of the worker cancel the group.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <weir/plugin.h>

#define LINE_SIZE 1024
#define NUMBERS_MAX (LINE_SIZE / 2)
#define LOOK_EACH 4096u

struct settings {
    const char *path;
    const char *tasks;
    uint64_t within; /* ms */
};

struct reader {
    const struct settings *settings; /* const, as all above `lock` */
    struct weir_port *port;
    FILE *connection;
    pthread_t thread;
    pthread_mutex_t lock;          /* of all below */
    struct weir_port_group *group; /* NULL = none */
    bool ends;
};

struct check {
    uint64_t number;
    bool is_composite; /* written by the task, read after its group has ended */
};

/* --- the tasks -------------------------------------------------------------------------------- */

static int check_number(struct weir_task *task, void *argument)
{
    struct check *check = argument;

    for (uint64_t divisor = 2; divisor <= check->number / divisor; divisor++) {
        if (check->number % divisor == 0) {
            check->is_composite = true;
            return 1;
        }
        if (divisor % LOOK_EACH == 0 && !weir_task_is_wanted(task))
            return WEIR_ECANCELLED;
    }
    return 0;
}

/* --- the thread ------------------------------------------------------------------------------- */

/* Sets the group that `close` cancels. False: the worker ends. */
static bool set_group(struct reader *reader, struct weir_port_group *group)
{
    bool ends;

    pthread_mutex_lock(&reader->lock);
    reader->group = group;
    ends = reader->ends;
    pthread_mutex_unlock(&reader->lock);
    return !ends;
}

/* Runs the checks. Afterwards no task is open, so no task uses `checks`. True: all numbers are
 * prime. */
static bool run(const struct reader *reader, struct weir_port_group *group, struct check *checks,
                size_t count)
{
    struct weir_group_ended ended = WEIR_GROUP_ENDED;
    uint64_t within = reader->settings->within;
    weir_pid tasks;

    if (weir_port_lookup(reader->port, reader->settings->tasks, &tasks) != 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (weir_port_group_submit(group, tasks, check_number, &checks[i], within) != 0)
            break; /* the group is cancelled, or there was no room in time */
    if (weir_port_group_wait(group, within, &ended) == WEIR_ETIMEOUT) {
        weir_port_group_cancel(group);
        (void)weir_port_group_wait(group, WEIR_FOR_EVER, &ended);
    }
    return ended.done == count;
}

static void answer(const struct reader *reader, const struct check *checks, size_t count,
                   bool all_prime)
{
    const char *text = all_prime ? "all prime\n" : "not known\n";
    char line[64];

    for (size_t i = 0; i < count; i++)
        if (checks[i].is_composite) {
            snprintf(line, sizeof line, "%ju is not prime\n", (uintmax_t)checks[i].number);
            text = line;
            break;
        }
    (void)send(fileno(reader->connection), text, strlen(text), MSG_NOSIGNAL);
}

static void serve_batch(struct reader *reader, const char *line)
{
    struct check checks[NUMBERS_MAX] = { { 0 } };
    struct weir_port_group *group;
    bool all_prime = false;
    size_t count = 0;
    char *end;

    for (; (checks[count].number = strtoull(line, &end, 10)), end != line; line = end)
        count++;
    if (weir_port_group_create(reader->port, WEIR_GROUP_FIRST_ERROR, &group) == 0) {
        if (set_group(reader, group))
            all_prime = run(reader, group, checks, count);
        (void)set_group(reader, NULL);
        weir_port_group_destroy(group);
    }
    answer(reader, checks, count, all_prime);
}

/* When the peer closes the connection, the thread sends its worker a message, so the worker fails,
 * and the next one connects again. */
static void *serve(void *context)
{
    struct reader *reader = context;
    struct weir_message *message = NULL;
    char line[LINE_SIZE];

    while (fgets(line, sizeof line, reader->connection) && strchr(line, '\n'))
        serve_batch(reader, line);
    if (set_group(reader, NULL))
        message = weir_port_message_new(reader->port, NULL, 0);
    if (message && weir_port_send(reader->port, 0, message) != 0)
        weir_port_message_free(reader->port, message);
    return NULL;
}

/* --- the worker ------------------------------------------------------------------------------- */

/* NULL: errno has the reason. */
static FILE *connect_to(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    FILE *connection = NULL;

    if ((size_t)snprintf(address.sun_path, sizeof address.sun_path, "%s", path) >=
        sizeof address.sun_path)
        errno = ENAMETOOLONG;
    else if (connect(descriptor, (const struct sockaddr *)&address, sizeof address) == 0)
        connection = fdopen(descriptor, "r");
    if (descriptor >= 0 && !connection)
        (void)close(descriptor);
    return connection;
}

static void free_all(struct reader *reader)
{
    weir_port_unref(reader->port);
    pthread_mutex_destroy(&reader->lock);
    (void)fclose(reader->connection);
}

static int reader_open(struct weir_self *self, const void *settings, void *state)
{
    struct reader *reader = state;

    reader->settings = settings;
    reader->connection = connect_to(reader->settings->path);
    if (!reader->connection) {
        weir_reason(self, "not connected: %s", strerror(errno));
        return WEIR_EINVALID;
    }
    pthread_mutex_init(&reader->lock, NULL);
    reader->port = weir_port(self);
    if (reader->port && pthread_create(&reader->thread, NULL, serve, reader) == 0)
        return 0;
    free_all(reader);
    return WEIR_ENOMEM;
}

/* The only message is that of the thread. */
static int reader_handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)state;
    if (message->from != weir_pid_of(self))
        return WEIR_REJECT;
    weir_reason(self, "the connection was closed");
    return WEIR_FAIL;
}

/* Interrupts the thread, which reads or waits for its group. */
static void reader_close(struct weir_self *self, void *state, int reason)
{
    struct reader *reader = state;

    (void)self;
    (void)reason;
    (void)shutdown(fileno(reader->connection), SHUT_RDWR);
    pthread_mutex_lock(&reader->lock);
    reader->ends = true;
    if (reader->group)
        weir_port_group_cancel(reader->group);
    pthread_mutex_unlock(&reader->lock);
    pthread_join(reader->thread, NULL);
    free_all(reader);
}

static const struct weir_option options[] = {
    WEIR_OPTION_STRING(struct settings, path, .help = "the socket of the peer", .required = true),
    WEIR_OPTION_POOL(struct settings, tasks, .help = "the pool that runs tasks", .required = true),
    WEIR_OPTION_DURATION(struct settings, within, .help = "a batch that takes longer is given up",
                         .fallback = "10s", .min = 1, .max = 86400000),
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    {
        .name = "reader",
        .summary = "reports the numbers of a line that are not prime",
        .options = options,
        .settings_size = sizeof(struct settings),
        .state_size = sizeof(struct reader),
        .flags = WEIR_BLOCKING, /* `close` waits for the thread */
        .open = reader_open,
        .handle = reader_handle,
        .close = reader_close,
    },
    {
        .name = "tasks",
        .summary = "runs the tasks of batches.reader",
        .handle = weir_task_handle,
    },
    { 0 },
};
WEIR_PLUGIN("batches", "1.0.0", behaviours);

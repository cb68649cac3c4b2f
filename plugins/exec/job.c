/* SPDX-License-Identifier: MIT */
#include "job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Bytes of one read: the usual size of a pipe's buffer is four times this. */
#define READ_SIZE ((size_t)16 * 1024)
/* Reads after the end of the command. A process that has left the group may still write. */
#define LAST_READS_MAX 64u
/* Memory for output that a worker keeps for the next message. */
#define KEPT_MAX ((size_t)64 * 1024)
/* After SIGKILL, for processes that wait for a device. */
#define END_WAIT_MS 1000

void job_init(struct job *job, size_t output_max, uint32_t log_lines)
{
    *job = (struct job){ .output_max = output_max,
                         .words = { .event = "standard error", .limit = log_lines } };
    child_init(&job->child);
    stream_init(&job->output);
    stream_init(&job->errors);
}

static void close_streams(struct weir_self *self, struct job *job)
{
    stream_close(self, &job->output);
    stream_close(self, &job->errors);
}

/* No number of a process that has been reaped stays named. */
static bool reap(struct weir_self *self, struct job *job, int wait_ms)
{
    weir_child_process(self, 0);
    return child_reap(&job->child, wait_ms);
}

bool job_finish(struct weir_self *self, struct job *job)
{
    bool ended = reap(self, job, END_WAIT_MS);

    close_streams(self, job);
    free(job->text);
    job->text = NULL;
    return ended;
}

/* --- starting --------------------------------------------------------------------------------- */

static int write_all(int descriptor, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t written = write(descriptor, data, size);

        if (written < 0 && errno != EINTR)
            return errno;
        if (written > 0) {
            data += written;
            size -= (size_t)written;
        }
    }
    return lseek(descriptor, 0, SEEK_SET) < 0 ? errno : 0;
}

/* The descriptor of the input, owned by the caller; or minus an errno. */
static int open_input(const char *data, size_t size, bool has_input)
{
    int descriptor = has_input && size > 0 ? memfd_create("payload", MFD_CLOEXEC)
                                           : open("/dev/null", O_RDONLY | O_CLOEXEC);
    int error;

    if (descriptor < 0)
        return -errno;
    error = has_input ? write_all(descriptor, data, size) : 0;
    if (error == 0)
        return descriptor;
    (void)close(descriptor);
    return -error;
}

static int open_streams(struct job *job, int *out_descriptors)
{
    int error = stream_open(&job->output, &out_descriptors[1]);

    if (error != 0)
        return error;
    error = stream_open(&job->errors, &out_descriptors[2]);
    if (error != 0)
        (void)close(out_descriptors[1]);
    return error;
}

static void forget_output(struct job *job)
{
    if (job->capacity > KEPT_MAX) {
        free(job->text);
        job->text = NULL;
        job->capacity = 0;
    }
    job->size = 0;
    job->too_large = job->no_memory = false;
}

int job_start(struct weir_self *self, struct job *job, const struct child_plan *plan,
              char *const *arguments, const char *input, size_t size, bool has_input)
{
    int descriptors[3];
    int error;

    forget_output(job);
    words_begin(&job->words);
    descriptors[0] = open_input(input, size, has_input);
    if (descriptors[0] < 0)
        return -descriptors[0];
    error = open_streams(job, descriptors);
    if (error == 0) {
        error = child_start(&job->child, plan, arguments, descriptors, 3);
        (void)close(descriptors[1]);
        (void)close(descriptors[2]);
    }
    (void)close(descriptors[0]);
    if (error != 0)
        close_streams(self, job);
    else
        weir_child_process(self, job->child.process);
    return error;
}

/* --- waiting --------------------------------------------------------------------------------- */

bool job_wait(const struct job *job, int wait_ms, struct child_end *out_end)
{
    return child_wait(&job->child, wait_ms) && child_has_ended(&job->child, out_end);
}

static int watch_end(struct weir_self *self, struct job *job, const struct job_calls *calls)
{
    int status = weir_watch(self, job->child.descriptor, WEIR_READABLE, calls->ended, NULL, NULL);

    return status == 0 ? 0 : status == WEIR_ENOMEM ? ENOMEM : ENOTSUP;
}

int job_watch(struct weir_self *self, struct job *job, const struct job_calls *calls)
{
    int error = stream_watch(self, &job->output, calls->output);

    if (error == 0)
        error = stream_watch(self, &job->errors, calls->errors);
    if (error == 0)
        error = watch_end(self, job, calls);
    if (error != 0) {
        (void)reap(self, job, END_WAIT_MS);
        close_streams(self, job);
    }
    return error;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Makes room for one read: one byte more than output_max shows that there is too much. */
static bool reserve(struct job *job, size_t *out_room)
{
    size_t wanted = job->size + READ_SIZE;
    char *text;

    if (wanted > job->output_max + 1)
        wanted = job->output_max + 1;
    if (wanted > job->capacity) {
        size_t capacity = 2 * job->capacity > wanted ? 2 * job->capacity : wanted;

        text = realloc(job->text, capacity);
        if (!text)
            return false;
        job->text = text;
        job->capacity = capacity;
    }
    *out_room = wanted - job->size;
    return true;
}

/* Bytes read; 0: there is no more for now, or ever. */
static size_t read_output(struct job *job, bool *out_end)
{
    size_t room;
    ssize_t got;

    if (!reserve(job, &room)) {
        job->no_memory = true;
        return 0;
    }
    got = stream_read(&job->output, job->text + job->size, room);
    *out_end = got == 0;
    if (got <= 0)
        return 0;
    job->size += (size_t)got;
    job->too_large = job->size > job->output_max;
    return (size_t)got;
}

static bool is_spoiled(const struct job *job)
{
    return job->too_large || job->no_memory;
}

bool job_on_output(struct weir_self *self, struct job *job, const struct job_calls *calls)
{
    bool at_end = false;

    stream_fired(&job->output);
    if (is_spoiled(job))
        return false;
    (void)read_output(job, &at_end);
    if (!is_spoiled(job) && !at_end && stream_watch(self, &job->output, calls->output) != 0)
        job->no_memory = true;
    return !is_spoiled(job);
}

static ssize_t read_errors(struct weir_self *self, struct job *job, long long process)
{
    char text[READ_SIZE];
    ssize_t got = stream_read(&job->errors, text, sizeof text);

    if (got > 0)
        words_add(self, &job->words, process, text, (size_t)got);
    return got;
}

/* Without a watch the rest is read at the end. */
void job_on_errors(struct weir_self *self, struct job *job, const struct job_calls *calls)
{
    stream_fired(&job->errors);
    if (read_errors(self, job, job->child.process) != 0)
        (void)stream_watch(self, &job->errors, calls->errors);
}

/* --- ending ----------------------------------------------------------------------------------- */

bool job_on_ended(struct weir_self *self, struct job *job, const struct job_calls *calls,
                  struct child_end *out_end)
{
    if (child_has_ended(&job->child, out_end))
        return true;
    (void)watch_end(self, job, calls);
    return false;
}

static void read_rest(struct weir_self *self, struct job *job, long long process)
{
    bool at_end = false;

    for (uint32_t i = 0; i < LAST_READS_MAX && !is_spoiled(job); i++) {
        if (read_output(job, &at_end) == 0)
            break;
    }
    for (uint32_t i = 0; i < LAST_READS_MAX; i++) {
        if (read_errors(self, job, process) <= 0)
            break;
    }
}

void job_end(struct weir_self *self, struct job *job)
{
    long long process = job->child.process;

    /* The group is killed first: none of its processes writes any more. */
    (void)reap(self, job, -1);
    read_rest(self, job, process);
    words_end(self, &job->words, process);
    close_streams(self, job);
}

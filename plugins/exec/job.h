/* SPDX-License-Identifier: MIT */
/*
 * job.h - one run of a command: the process, its payload, and its output.
 *
 * Life: job_init .. job_finish; in between job_start, job_wait or job_watch, .., job_end for each
 * run. Not synchronised. The
 * payload is a file in memory: the command may read it, seek in it, or ignore it, and the worker
 * never waits for the command to read.
 */
#ifndef JOB_H
#define JOB_H

#include "child.h"
#include "stream.h"
#include "words.h"

struct job {
    struct child child;
    struct stream output;
    struct stream errors;
    struct words words;
    size_t output_max; /* const: bytes of output that are kept */
    char *text;        /* owned: the output */
    size_t size;       /* of the output */
    size_t capacity;   /* of `text` */
    bool too_large;    /* the command wrote more than output_max */
    bool no_memory;    /* memory was out for the output */
};

/* The watches of a job; each calls the function of job_on_... below. */
struct job_calls {
    weir_ready *ended;
    weir_ready *output;
    weir_ready *errors;
};

void job_init(struct job *job, size_t output_max, uint32_t log_lines);
/* Kills a command that runs. False: it does not end; it becomes a zombie later. */
bool job_finish(struct weir_self *self, struct job *job);

/* Starts the command. `has_input` = false: its standard input is empty. Returns 0 or an errno; then
 * nothing runs. Borrows. */
int job_start(struct weir_self *self, struct job *job, const struct child_plan *plan,
              char *const *arguments, const char *input, size_t size, bool has_input);

/* Waits for `wait_ms` at most, without reading: the output stays in the pipe. True: the process has
 * ended. */
bool job_wait(const struct job *job, int wait_ms, struct child_end *out_end);
/* Watches the process and its output. Returns 0, or an errno; then the command is killed. */
int job_watch(struct weir_self *self, struct job *job, const struct job_calls *calls);

/* For `ended`: true when the process has ended. Otherwise it watches again, or returns false for
 * good when that is not possible: job_end waits. */
bool job_on_ended(struct weir_self *self, struct job *job, const struct job_calls *calls,
                  struct child_end *out_end);
/* For `output`: reads. False: too_large or no_memory is set, and nothing more is read. */
bool job_on_output(struct weir_self *self, struct job *job, const struct job_calls *calls);
/* For `errors`: reads, and logs the lines. */
void job_on_errors(struct weir_self *self, struct job *job, const struct job_calls *calls);

/* After the process has ended: kills the rest of its group, reads the rest of the pipes,
 * closes them. The output stays until the next job_start. */
void job_end(struct weir_self *self, struct job *job);

#endif

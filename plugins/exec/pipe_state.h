/* SPDX-License-Identifier: MIT */
/*
 * pipe_state.h - a worker of exec.pipe: its child, and the messages that the child has.
 *
 * pipe.c has the callbacks and the options, pipe_life.c begins and ends the child, pipe_window.c
 * gives it messages and settles them, pipe_frames.c carries out what it writes. Not synchronised.
 */
#ifndef PIPE_STATE_H
#define PIPE_STATE_H

#include "peer.h"
#include "program.h"
#include "window.h"

/* Before another try to send an output, or to get memory for it: so long at most. */
#define PIPE_AGAIN_MS 100u
/* Bytes of a reason that are kept, with a NUL; the host shows 47 of them. */
#define PIPE_TEXT_SIZE 4096u
/* Bytes of a payload in the log, with a NUL. */
#define PIPE_SAMPLE_SIZE 256u

enum pipe_format {
    PIPE_BYTES, /* frame.h */
    PIPE_JSON,  /* json_frame.h */
};

struct pipe_settings {
    struct program_settings program; /* the first: PROGRAM_OPTIONS */
    const char *tag;
    uint32_t frames; /* enum pipe_format */
    uint64_t start_timeout;
    uint64_t open_wait;
    uint64_t timeout;
    uint64_t grace;
    uint64_t frame_max;
    uint32_t log_lines;
    uint32_t log_payload;
    uint64_t tick;
    /* No options. */
    _Atomic bool is_trying; /* a worker waits for its child to be ready */
    _Atomic uint64_t tried; /* when one has waited so, and the program works: ms, never 0 */
    /* The worker whose child has ended with a batch, plus 1, and the messages of the batch in the
     * upper half: they are given one at a time. */
    _Atomic uint64_t careful;
};

/*
 *   WAITING    the host lacks what a child needs
 *     |
 *     v      ready         handle
 * STARTING --------> READY <------> BUSY
 *     |                |   verdict   |
 *     |                +--> CLOSING <-+  the worker leaves, or the child reads no more: what it
 *     |                |      |      |   writes still counts
 *     +----------------+------+------+   time-out, not wanted, a wrong frame, fail, stop
 *                      v
 *                   LEAVING -------> KILLED      grace is over, also from CLOSING
 *                      |                |
 *                      v                v
 *                    (the process has ended)     also from STARTING, READY, BUSY, CLOSING
 *                              |
 *                              v
 *                            ENDED               the host ends this incarnation
 */
enum pipe_phase {
    PIPE_WAITING,
    PIPE_STARTING,
    PIPE_READY,
    PIPE_BUSY,
    PIPE_CLOSING,
    PIPE_LEAVING,
    PIPE_KILLED,
    PIPE_ENDED,
};

/* How many messages the child may have ahead. */
struct pipe_pace {
    uint32_t size;
    uint32_t batch;     /* announced by the child; 0 = none */
    uint32_t careful;   /* messages that are given one at a time */
    bool is_leased;     /* the worker is */
    bool is_unbuffered; /* the mailbox is: seen at `looked`, as the next one */
    bool has_idle_sibling;
    uint64_t looked; /* weir_now_ms; 0 = never */
    uint64_t began;  /* when the message came in hand that is settled first; weir_now_ms */
    uint32_t ended;  /* verdicts since */
    uint32_t demand; /* the last one that was set */
};

struct pipe {
    const struct pipe_settings *settings; /* borrowed until close */
    const struct weir_tag *line;
    const struct weir_tag *tag; /* of the output */
    struct program program;

    struct peer peer;
    enum pipe_phase phase;
    uint32_t revision; /* of the child's frames */
    struct window window;
    struct pipe_pace pace;
    bool has_ended; /* the process; `end` says how */
    struct child_end end;
    const char *cause; /* why the child must end; static, or `text`; NULL = nothing */
    bool failed;       /* with a cause: the end is a failure of the worker */
    bool was_ready;    /* it has said so */
    bool worked;       /* it has settled a message */
    bool answered;     /* it has written a frame since the message in hand is in hand */
    bool ticked;       /* it has got a tick since then */
    bool leaves;       /* the worker does: no other child follows */
    bool lacks;        /* what a child needs: the log has it */

    bool has_frame; /* its line is read; its bytes and the rest follow */
    struct frame frame;
    struct weir_message *output; /* owned: of `frame`, until it is accepted */
    size_t got;                  /* bytes of `frame` that are read */
    bool blocked;                /* the output has no room, or no memory */
    bool full;                   /* with `blocked`: no room; the time is not that of the child */
    uint32_t again_ms;           /* with `blocked`: before the next try */

    uint64_t began;    /* with the message in hand: weir_now_ms */
    uint64_t deadline; /* of the phase; 0 = none */
    uint64_t timer;    /* 0 = none */
    uint64_t timer_due;
    uint32_t gathered; /* messages that were given since the last pipe_send */
    uint32_t unframed; /* of these, the last ones: they have no frame yet */
    uint64_t flush;    /* a timer; 0 = none */
    uint64_t ticks;    /* likewise */
    uint64_t more;     /* likewise: frames were left unread, so that others have their turn */

    uint64_t count_done;
    uint64_t count_refused; /* retried or rejected */
    char text[PIPE_TEXT_SIZE];
    bool is_explained;           /* the worker has the reason of the last message */
    char items[PIPE_TEXT_SIZE];  /* what `inspect` shows: lines of NAME VALUE */
    char label[WEIR_LABEL_SIZE]; /* of the next output */
    uint32_t to;                 /* likewise: an index of pipe_outputs */
    uint32_t unbound;            /* bits of those that the log has named as not bound */
};

/* The outputs of the behaviour; `out` is the first. */
extern const struct weir_output pipe_outputs[];

/* --- pipe_life.c ------------------------------------------------------------------------------ */

/* Starts the child. Returns 0 or an errno; then nothing runs. */
int pipe_start(struct weir_self *self, struct pipe *state);
/* After pipe_start has returned `error`: false unless the host is short of what a child needs. It
 * is tried again. The worker gets no message meanwhile. */
bool pipe_start_later(struct weir_self *self, struct pipe *state, int error);
/* Waits at most `open_wait` until the child that has just started is ready. True: it has ended, or
 * has written something else, which is logged and is the reason of the worker; nothing runs. */
bool pipe_fails_early(struct weir_self *self, struct pipe *state);
/* Looks at the deadline in time; to be called after each change of the phase, of `deadline` and of
 * `blocked`. */
void pipe_arm(struct weir_self *self, struct pipe *state);
/* 0 = none. */
void pipe_set_deadline(struct weir_self *self, struct pipe *state, uint64_t after_ms);
/* The child ends by itself within `grace`, or is killed. `cause` is static, or the text of the
 * state; NULL: the reason is how it ends, which also decides whether it has failed. */
void pipe_expect_end(struct weir_self *self, struct pipe *state, const char *cause, bool failed);
/* As pipe_expect_end, after a TERM: it has failed. */
void pipe_stop(struct weir_self *self, struct pipe *state, const char *cause);
/* After the end of the process: another child begins, or the host ends this incarnation. With
 * `leaves` nothing follows. */
void pipe_end(struct weir_self *self, struct pipe *state);
/* Writes the frames that gathered. */
void pipe_send(struct weir_self *self, struct pipe *state);
/* The child is ready: begins to send it ticks. */
void pipe_tick(struct weir_self *self, struct pipe *state);
/* True while the frames of the child count. */
bool pipe_listens(const struct pipe *state);
/* The worker leaves: a child of revision 2 says its last words, which count, and ends. */
void pipe_say_close(struct weir_self *self, struct pipe *state);

/* --- pipe_window.c ---------------------------------------------------------------------------- */

/* Sets the demand to 0. Returns a status. */
int pipe_take_nothing(struct weir_self *self, struct pipe *state);
/* The child is ready: gives it as many messages as its first frame says. */
void pipe_open_window(struct weir_self *self, struct pipe *state);
/* Gives the child a message, which stays kept, with the next pipe_flush. Returns a status of
 * outbox_put. */
int pipe_give(struct weir_self *self, struct pipe *state, const struct weir_message *message);
/* Makes the frames of the messages that have none. */
void pipe_frame_all(struct pipe *state);
/* Writes the messages that gathered, or waits for more of them. */
void pipe_flush(struct weir_self *self, struct pipe *state);
/* The child keeps a message that is ahead. */
void pipe_keep(struct weir_self *self, struct pipe *state, uint64_t id);
/* Ends the message in hand. */
void pipe_end_message(struct weir_self *self, struct pipe *state, int verdict);
/* Ends a message that has left the window. */
void pipe_settle(struct weir_self *self, struct pipe *state, const struct weir_message *message,
                 int verdict);
/* After some verdicts: how many messages the child may have from now on. */
void pipe_keep_pace(struct weir_self *self, struct pipe *state);
/* Gives all messages back: the child has chosen to end. */
void pipe_put_all_back(struct weir_self *self, struct pipe *state);
/* Gives back all but the message that the child answers for. */
void pipe_put_back(struct weir_self *self, struct pipe *state);
/* The child has failed with a batch: the next child gets its messages one by one. */
void pipe_be_careful(struct weir_self *self, const struct pipe *state);
/* Tells the child what is not wanted any more. True: it has worked on such a message for a while,
 * and must be stopped. */
bool pipe_cancel(struct weir_self *self, struct pipe *state);

/* --- pipe_frames.c ---------------------------------------------------------------------------- */

/* Reads frames until there are no more, or one of them has to wait. */
void pipe_pump(struct weir_self *self, struct pipe *state);
/* As pipe_pump, in a callback of its own. */
void pipe_go_on_later(struct weir_self *self, struct pipe *state, uint32_t after_ms);
/* Reads a frame. False: there is none now, or it has to wait (`blocked`). */
bool pipe_read(struct weir_self *self, struct pipe *state);
/* Forgets the frame that is not finished. */
void pipe_drop_frame(struct weir_self *self, struct pipe *state);
/* The watch of the frames. */
void pipe_on_frames(struct weir_self *self, void *memory, void *context, int descriptor,
                    int readiness);

#endif

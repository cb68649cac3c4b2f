/*
 * fake_host.h - runs one behaviour of a plugin on the thread of a test, and records what it did.
 *
 * The plugin is compiled into the test program, so `weir_plugin_v1` is the one under test. Options
 * are given as text and go through the same tables and parser as those of a YAML file. Nothing
 * happens that the test did not ask for: no thread, no clock.
 *
 * Life: fake_start .. fake_finish. Messages that were emitted belong to the fake host until then.
 */
#ifndef FAKE_HOST_H
#define FAKE_HOST_H

#include <weir/plugin.h>

#define FAKE_MAX 4096 /* of each kind that is written down; more is a broken test */
#define FAKE_OPTIONS_MAX 8
#define FAKE_ITEMS_MAX 8
#define FAKE_UNITS_MAX 4
#define FAKE_TAGS_MAX 16

struct fake_emit {
    uint32_t output;
    struct weir_message *message; /* owned */
};

struct fake_log {
    enum weir_log_level level;
    char *text; /* owned: `event key=value ...` */
};

struct fake_progress {
    const char *unit;
    uint64_t done;
    uint64_t total;
};

struct fake_option {
    const char *name;
    const char *texts[FAKE_ITEMS_MAX];
    size_t count;
    bool list;
};

struct fake_host {
    struct weir_self self; /* first: found again from a weir_self */
    struct weir_host table;
    const struct weir_behaviour *behaviour;
    struct options *options; /* owned */
    void *state;             /* owned */
    bool is_open;
    struct weir_tag tags[FAKE_TAGS_MAX]; /* compared by address: each name has one */

    struct fake_option given[FAKE_OPTIONS_MAX];
    size_t given_count;

    /* What it shall answer. */
    uint32_t emit_room;    /* emits that are taken; then emit_status is the answer */
    int emit_status;       /* WEIR_EFULL, unless the test sets another */
    uint32_t message_room; /* messages that can be made; then memory is out */
    bool no_timers;        /* `after` answers WEIR_ENOMEM */

    /* What it saw. */
    struct fake_emit emits[FAKE_MAX];
    size_t emit_count;
    struct fake_log logs[FAKE_MAX];
    size_t log_count;
    struct fake_progress progress[FAKE_UNITS_MAX];
    char *printed; /* owned; "" at first */
    size_t printed_size;
    char reason[64];
    uint64_t retry_ms;
    int exit_status;
    uint32_t timers;  /* armed */
    int64_t messages; /* made, and neither freed nor emitted */
    uint32_t index;   /* of the worker */
};

/* Returns owned; fails the test when memory is out or the plugin has no such behaviour. */
struct fake_host *fake_start(const char *behaviour);
/* Closes what is open, checks that no message was forgotten, and frees. NULL is allowed. */
void fake_finish(struct fake_host *fake);

/* Sets an option, before fake_open. Borrows until then. */
void fake_set(struct fake_host *fake, const char *name, const char *text);
/* Likewise, a list; called again it adds an item. NULL gives an empty list. */
void fake_set_item(struct fake_host *fake, const char *name, const char *text);

/* Parses the options, runs `check` and `open`. WEIR_EINVALID when options or check refuse. */
int fake_open(struct fake_host *fake);
/* Runs `close`. */
void fake_close(struct fake_host *fake, enum weir_end_reason reason);
int fake_produce(struct fake_host *fake, uint32_t credit);
/* Calls `produce` with `credit` until it says something else than WEIR_MORE, and returns that. */
int fake_produce_all(struct fake_host *fake, uint32_t credit);
/* Hands over a copy of the payload as a message with this tag. Returns the verdict. */
int fake_handle(struct fake_host *fake, const char *tag, const void *data, size_t size);
/* Likewise, for the attempt'th time. */
int fake_handle_again(struct fake_host *fake, const char *tag, const void *data, size_t size,
                      uint16_t attempt);

/* What it told of a unit; zeros when nothing. */
struct fake_progress fake_progress(const struct fake_host *fake, const char *unit);
/* True when a log line of this level holds `part`. */
bool fake_logged(const struct fake_host *fake, enum weir_log_level level, const char *part);

#endif

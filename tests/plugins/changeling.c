/* SPDX-License-Identifier: MIT */
/*
 * Everything that a reload can change: workers and sources with live options and others, exclusive
 * ones and others, a manager, an output. A worker's `open` fails where the file says so; `pass`,
 * `turn` and `through` forward each message unchanged, by outputs of other numbers and names; a
 * source produces nothing.
 */
#include <string.h>

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <weir/plugin.h>

#define NOBODY UINT32_MAX

struct settings {
    uint32_t live;
    uint32_t fixed;
    uint32_t fails;
};

static int open_worker(struct weir_self *self, const void *settings, void *memory)
{
    const struct settings *wanted = settings;

    (void)memory;
    if (wanted->fails == NOBODY || wanted->fails != weir_index(self))
        return 0;
    weir_reason(self, "the file says that it fails");
    return WEIR_EINVALID;
}

static int handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    (void)self;
    (void)memory;
    (void)message;
    return WEIR_DONE;
}

static int pass_to(struct weir_self *self, uint32_t output, const struct weir_message *message)
{
    struct weir_message *copy = weir_message_new(self, message->tag, message->size);

    if (!copy)
        return WEIR_RETRY;
    if (message->size > 0)
        memcpy(copy->data, message->data, message->size);
    if (weir_emit(self, output, copy) == 0)
        return WEIR_DONE;
    weir_message_free(self, copy);
    return WEIR_RETRY;
}

static int pass_on(struct weir_self *self, void *memory, const struct weir_message *message)
{
    (void)memory;
    return pass_to(self, 0, message);
}

static int pass_on_by_second(struct weir_self *self, void *memory,
                             const struct weir_message *message)
{
    (void)memory;
    return pass_to(self, 1, message);
}

/* --- stumble: fails now and then ------------------------------------------------------------- */

#define STUMBLES_EVERY 1000u /* of all messages to its workers */

static int stumble(struct weir_self *self, void *memory, const struct weir_message *message)
{
    static _Atomic uint32_t count;

    (void)self;
    (void)memory;
    (void)message;
    return atomic_fetch_add(&count, 1) % STUMBLES_EVERY == STUMBLES_EVERY - 1 ? WEIR_FAIL
                                                                              : WEIR_DONE;
}

/* --- mark: how long nothing is finished ------------------------------------------------------ */

/* In a file of 16 bytes, which all workers and the test map. */
struct gap {
    _Atomic uint64_t last_ns;
    _Atomic uint64_t longest_ns; /* since the test set it to 0 */
};

struct mark_settings {
    const char *path;
    uint32_t fixed;
};

struct mark {
    struct gap *gap;
};

static int open_mark(struct weir_self *self, const void *settings, void *memory)
{
    const struct mark_settings *wanted = settings;
    int descriptor = open(wanted->path, O_RDWR | O_CLOEXEC);
    void *map;

    (void)self;
    if (descriptor < 0)
        return WEIR_EINVALID;
    map = mmap(NULL, sizeof(struct gap), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    (void)close(descriptor);
    if (map == MAP_FAILED)
        return WEIR_ENOMEM;
    ((struct mark *)memory)->gap = map;
    return 0;
}

static int mark(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct gap *gap = ((struct mark *)memory)->gap;
    struct timespec time;
    uint64_t now, last, longest;

    (void)self;
    (void)message;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    now = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
    last = atomic_exchange(&gap->last_ns, now);
    longest = atomic_load(&gap->longest_ns);
    while (last && now > last && now - last > longest &&
           !atomic_compare_exchange_weak(&gap->longest_ns, &longest, now - last))
        ;
    return WEIR_DONE;
}

static void close_mark(struct weir_self *self, void *memory, int reason)
{
    (void)self;
    (void)reason;
    (void)munmap(((struct mark *)memory)->gap, sizeof(struct gap));
}

/* --- tables ---------------------------------------------------------------------------------- */

static void take_on(struct weir_self *self, void *memory, const void *settings)
{
    (void)self;
    (void)settings;
    (void)memory;
}

static int produce(struct weir_self *self, void *memory, uint32_t credit)
{
    (void)self;
    (void)memory;
    (void)credit;
    return WEIR_WAIT;
}

static const struct weir_option options[] = {
    WEIR_OPTION_U32(struct settings, live, .fallback = "1", .live = true),
    WEIR_OPTION_U32(struct settings, fixed, .fallback = "1"),
    WEIR_OPTION_U32(struct settings, fails, .fallback = "4294967295",
                    .help = "number of the worker that does not open"),
    { 0 },
};

static const struct weir_option mark_options[] = {
    WEIR_OPTION_STRING(struct mark_settings, path, .required = true),
    WEIR_OPTION_U32(struct mark_settings, fixed, .fallback = "1"),
    { 0 },
};

static const struct weir_output outputs[] = {
    { .name = "out" },
    { 0 },
};

/* `out` is number 0 of one, 1 of the next, and unknown to the last. */
static const struct weir_output turn_outputs[] = {
    { .name = "side" },
    { .name = "out" },
    { 0 },
};

static const struct weir_output through_outputs[] = {
    { .name = "on" },
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    {
        .name = "worker",
        .options = options,
        .outputs = outputs,
        .settings_size = sizeof(struct settings),
        .open = open_worker,
        .handle = handle,
        .reconfigure = take_on,
    },
    {
        .name = "pass",
        .options = options,
        .outputs = outputs,
        .settings_size = sizeof(struct settings),
        .open = open_worker,
        .handle = pass_on,
        .reconfigure = take_on,
    },
    {
        .name = "turn",
        .options = options,
        .outputs = turn_outputs,
        .settings_size = sizeof(struct settings),
        .open = open_worker,
        .handle = pass_on_by_second,
        .reconfigure = take_on,
    },
    {
        .name = "through",
        .options = options,
        .outputs = through_outputs,
        .settings_size = sizeof(struct settings),
        .open = open_worker,
        .handle = pass_on,
        .reconfigure = take_on,
    },
    {
        .name = "lone",
        .options = options,
        .settings_size = sizeof(struct settings),
        .flags = WEIR_EXCLUSIVE,
        .open = open_worker,
        .handle = handle,
    },
    {
        .name = "mark",
        .summary = "writes down the longest time in which none of its workers finished anything",
        .options = mark_options,
        .settings_size = sizeof(struct mark_settings),
        .state_size = sizeof(struct mark),
        .open = open_mark,
        .handle = mark,
        .close = close_mark,
    },
    { .name = "manager", .handle = handle },
    { .name = "stumble", .handle = stumble },
    {
        .name = "source",
        .options = options,
        .outputs = outputs,
        .settings_size = sizeof(struct settings),
        .flags = WEIR_ENDLESS,
        .produce = produce,
    },
    {
        .name = "lone_source",
        .options = options,
        .outputs = outputs,
        .settings_size = sizeof(struct settings),
        .flags = WEIR_ENDLESS | WEIR_EXCLUSIVE,
        .produce = produce,
    },
    { 0 },
};

WEIR_PLUGIN("changeling", "1.0.0", behaviours);

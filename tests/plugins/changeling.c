/*
 * What a reload can change: workers and sources with options that are live and others, of which two
 * can live side by side and of which not, a manager, an output. A worker's `open` fails where the
 * file says so; `pass` passes each message on as it came; a source has nothing to produce.
 */
#include <string.h>

#include <string.h>

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

static int pass_on(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct weir_message *copy = weir_message_new(self, message->tag, message->size);

    (void)memory;
    if (!copy)
        return WEIR_RETRY;
    if (message->size > 0)
        memcpy(copy->data, message->data, message->size);
    if (weir_emit(self, 0, copy) == 0)
        return WEIR_DONE;
    weir_message_free(self, copy);
    return WEIR_RETRY;
}

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

static const struct weir_output outputs[] = {
    { .name = "out" },
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
        .name = "lone",
        .options = options,
        .settings_size = sizeof(struct settings),
        .flags = WEIR_EXCLUSIVE,
        .open = open_worker,
        .handle = handle,
    },
    { .name = "manager", .handle = handle },
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

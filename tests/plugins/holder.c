/* SPDX-License-Identifier: MIT */
/*
 * A worker that takes a worker of another pool for each message, has it handle the message under
 * the lease, and returns it; with `keep` it returns it when a reload sets `keep` to false. With
 * `then` it first takes a worker of that pool as well, and returns that one. A reload renews the
 * lease. With `fails_each` it fails while it has the lease, now and then.
 */
#include <string.h>

#include <weir/plugin.h>

#define FOR_LONG_MS 3600000u

struct settings {
    const char *pool;
    const char *then;
    bool keep;
    uint32_t fails_each;
};

struct holder {
    const char *pool; /* borrowed from the settings */
    const char *then; /* likewise; empty: none */
    bool keep;
    uint32_t fails_each;
    struct weir_lease lease; /* token 0: none, or the leased worker has not answered */
    struct weir_lease taken;
    const struct weir_message *message;
};

/* Of all holders: a failure does not reset it. */
static _Atomic uint32_t leases;

static void adopt(struct holder *holder, const struct settings *settings)
{
    holder->keep = settings->keep;
    holder->fails_each = settings->fails_each;
    holder->pool = settings->pool;
    holder->then = settings->then;
}

static int open_holder(struct weir_self *self, const void *settings, void *state)
{
    (void)self;
    adopt(state, settings);
    return 0;
}

static void end(struct weir_self *self, struct holder *holder)
{
    int verdict = weir_return(self, &holder->lease, WEIR_DONE) == 0 ? WEIR_DONE : WEIR_REJECT;

    holder->lease.token = 0;
    (void)weir_settle(self, holder->message, verdict);
}

static void try_later(struct weir_self *self, struct holder *holder);

static void taken_then(struct weir_self *self, void *state, void *context,
                       const struct weir_reply *reply)
{
    (void)context;
    if (weir_lease_of(reply))
        (void)weir_return(self, weir_lease_of(reply), WEIR_DONE);
    end(self, state);
}

/* Returns the worker, with `then` after it has had another one. */
static void go_on(struct weir_self *self, struct holder *holder)
{
    weir_pid pool;
    int status = holder->then[0] ? weir_lookup(self, holder->then, &pool) : WEIR_EUNKNOWN;

    if (status == 0)
        status = weir_take(self, pool, FOR_LONG_MS, taken_then, NULL, NULL);
    if (status != 0)
        end(self, holder);
}

/* The worker has the message behind it: it may be returned. */
static void answered(struct weir_self *self, void *state, void *context,
                     const struct weir_reply *reply)
{
    struct holder *holder = state;

    (void)context;
    (void)reply;
    holder->lease = holder->taken;
    if (!holder->keep)
        go_on(self, holder);
}

/* A request: the holder must not be done with its message before the leased worker is. */
static bool pass_on(struct weir_self *self, const struct holder *holder)
{
    const struct weir_message *message = holder->message;
    struct weir_message *copy = weir_message_new(self, message->tag, message->size);

    if (!copy)
        return false;
    memcpy(copy->data, message->data, message->size);
    if (weir_lease_request(self, &holder->taken, copy, FOR_LONG_MS, answered, NULL, NULL) == 0)
        return true;
    weir_message_free(self, copy);
    return false;
}

static void taken(struct weir_self *self, void *state, void *context,
                  const struct weir_reply *reply)
{
    struct holder *holder = state;

    (void)context;
    if (!weir_lease_of(reply)) {
        try_later(self, holder);
        return;
    }
    holder->taken = *weir_lease_of(reply);
    if (holder->fails_each && ++leases % holder->fails_each == 0)
        (void)weir_settle(self, holder->message, WEIR_FAIL);
    else if (!pass_on(self, holder))
        (void)weir_settle(self, holder->message, WEIR_REJECT);
}

/* No room for a taker, or a reload has taken the pool's leases away, is no reason to give up. */
static void try_to_take(struct weir_self *self, void *state, void *context)
{
    struct holder *holder = state;
    weir_pid pool;
    int status = weir_lookup(self, holder->pool, &pool);

    (void)context;
    if (status == 0)
        status = weir_take(self, pool, FOR_LONG_MS, taken, NULL, NULL);
    if (status != 0)
        try_later(self, holder);
}

static void try_later(struct weir_self *self, struct holder *holder)
{
    if (weir_after(self, 1, try_to_take, NULL, NULL) != 0)
        (void)weir_settle(self, holder->message, WEIR_REJECT);
}

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct holder *holder = state;

    holder->message = message;
    try_to_take(self, holder, NULL);
    return WEIR_KEEP;
}

static void reconfigure(struct weir_self *self, void *state, const void *settings)
{
    struct holder *holder = state;

    adopt(holder, settings);
    if (holder->lease.token)
        (void)weir_lease_renew(self, &holder->lease);
    if (holder->lease.token && !holder->keep)
        go_on(self, holder);
}

static const struct weir_option options[] = {
    WEIR_OPTION_POOL(struct settings, pool, .required = true),
    WEIR_OPTION_STRING(struct settings, then, .fallback = ""),
    WEIR_OPTION_BOOL(struct settings, keep, .fallback = "false", .live = true),
    WEIR_OPTION_U32(struct settings, fails_each, .fallback = "0", .max = 1000,
                    .help = "it fails with each such lease; 0 = never"),
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    {
        .name = "worker",
        .options = options,
        .settings_size = sizeof(struct settings),
        .state_size = sizeof(struct holder),
        .open = open_holder,
        .handle = handle,
        .reconfigure = reconfigure,
    },
    { 0 },
};

WEIR_PLUGIN("holder", "1.0.0", behaviours);

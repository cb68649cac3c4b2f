/* SPDX-License-Identifier: MIT */
/*
 * scaler - a manager that adds workers to its pool while messages pile up, and removes workers that
 * have nothing to do. The bounds are those of the pool's `size: {min, max}`.
 */
#include <weir/plugin.h>

struct settings {
    uint64_t every;
    uint64_t calm;
    uint32_t above;
};

struct state {
    const struct settings *settings; /* borrowed until close */
    const struct weir_tag *stats;
    uint64_t calm_ms; /* how long there have been idle workers */
};

/* --- what it decides -------------------------------------------------------------------------- */

static bool is_short(const struct settings *settings, const struct weir_pool_stats *pool)
{
    return pool->queued > (uint64_t)settings->above * pool->target;
}

/* Half as many again, so that a large pool grows in as few steps as a small one. */
static uint32_t more(uint32_t target)
{
    return target + (target < 2 ? 1 : target / 2);
}

/* Computes the target. */
static uint32_t decide(struct state *state, const struct weir_pool_stats *pool)
{
    const struct settings *settings = state->settings;

    /* Workers that are starting have not shown their effect yet. */
    if (is_short(settings, pool) && pool->starting == 0) {
        state->calm_ms = 0;
        return more(pool->target);
    }
    if (pool->queued > 0 || pool->idle == 0 || pool->target == 0) {
        state->calm_ms = 0;
        return pool->target;
    }
    state->calm_ms += settings->every;
    if (state->calm_ms < settings->calm)
        return pool->target;
    state->calm_ms = 0;
    return pool->target - 1;
}

/* --- what it does ----------------------------------------------------------------------------- */

/* Sets the target to `wanted`, within the bounds. */
static void resize(struct weir_self *self, const struct weir_pool_stats *pool, uint32_t wanted)
{
    struct weir_resized resized;
    int status = weir_pool_resize(self, weir_pool(self), wanted, &resized);

    if (status == WEIR_EINVALID && wanted > pool->target + 1)
        status = weir_pool_resize(self, weir_pool(self), pool->target + 1, &resized);
    if (status == 0 && resized.changed > 0)
        weir_log(self, WEIR_LOG_INFO, "scaled", weir_uint("from", pool->target),
                 weir_uint("to", resized.size), weir_uint("queued", pool->queued));
}

static void look(struct weir_self *self, void *memory, void *context)
{
    struct state *state = memory;
    struct weir_pool_stats pool = { .size = sizeof pool };
    uint32_t wanted;

    (void)context;
    if (weir_pool_stats(self, weir_pool(self), &pool) < 0)
        return;
    wanted = decide(state, &pool);
    if (wanted != pool.target)
        resize(self, &pool, wanted);
}

static int open_manager(struct weir_self *self, const void *settings, void *memory)
{
    struct state *state = memory;

    state->settings = settings;
    state->stats = weir_tag(self, WEIR_POOL_STATS);
    return state->stats ? weir_every(self, state->settings->every, look, NULL, NULL) : WEIR_ENOMEM;
}

/* The manager's own messages: urgent and high ones sent to the pool. It replies with the state of
 * the pool. */
static int handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    const struct state *state = memory;
    struct weir_pool_stats pool = { .size = sizeof pool };
    struct weir_message *reply;

    if (message->tag != state->stats || message->kind != WEIR_REQUEST) {
        weir_reason(self, "a scaler answers " WEIR_POOL_STATS " only");
        return WEIR_REJECT;
    }
    reply = weir_message_new(self, state->stats, sizeof pool);
    if (!reply || weir_pool_stats(self, weir_pool(self), &pool) < 0) {
        weir_message_free(self, reply);
        weir_reason(self, "no memory");
        return WEIR_REJECT;
    }
    *(struct weir_pool_stats *)reply->data = pool;
    if (weir_reply(self, message, reply) < 0)
        weir_message_free(self, reply);
    return WEIR_DONE;
}

/* --- tables ----------------------------------------------------------------------------------- */

static const struct weir_option options[] = {
    WEIR_OPTION_DURATION(struct settings, every, .help = "how often it looks", .fallback = "200ms",
                         .min = 1, .max = 3600000),
    WEIR_OPTION_U32(struct settings, above,
                    .help = "waiting messages for each worker beyond which there are too few",
                    .fallback = "4", .min = 1, .max = 1000000),
    WEIR_OPTION_DURATION(struct settings, calm,
                         .help = "how long nothing waits and a worker idles before it goes",
                         .fallback = "5s", .min = 1, .max = 3600000),
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    {
        .name = "by_load",
        .summary = "a manager that makes its pool as large as the work wants it",
        .options = options,
        .settings_size = sizeof(struct settings),
        .state_size = sizeof(struct state),
        .open = open_manager,
        .handle = handle,
    },
    { 0 },
};

WEIR_PLUGIN("scaler", "1.0.0", behaviours);

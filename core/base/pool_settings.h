/* SPDX-License-Identifier: MIT */
/*
 * base/pool_settings.h - the settings of a pool that are in force in core.
 *
 * The reader of a file fills this struct, and the host copies it as a whole into the options of a
 * pool. So a key in it needs no line between the language and its use in core. Zeros are valid.
 */
#ifndef BASE_POOL_SETTINGS_H
#define BASE_POOL_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/choices.h>

/* How failed workers, or member pools that escalate, are restarted. */
struct restart {
    uint32_t max;            /* failures within `within_ms` that are replaced at once */
    uint64_t within_ms;      /* 0, of a pool: all fields are as usual */
    uint64_t backoff_ms_min; /* then, and after a failed open: doubled each time */
    uint64_t backoff_ms_max;
    uint32_t then; /* enum weir_restart_then; 0 = keep trying */
};

/* The default of `restart`, which differs in `then` alone between workers and pools of pools. A
 * test compares it with the tables of config/language.c. */
static inline struct restart restart_usual(enum weir_restart_then then)
{
    return (struct restart){
        .max = 5,
        .within_ms = 10000,
        .backoff_ms_min = 100,
        .backoff_ms_max = 10000,
        .then = then,
    };
}

#define RETRY_UNLIMITED UINT32_MAX
#define RETRY_COUNT_MAX 10000u
#define RETRY_BACKOFF_MS_MAX ((uint64_t)60 * 60 * 1000)
#define RETRY_FOR_MS_MAX ((uint64_t)7 * 24 * 60 * 60 * 1000)

/* How messages are retried whose workers say RETRY: actor/retry.h. */
struct retry {
    uint32_t max;            /* retries of a message; or RETRY_UNLIMITED */
    uint64_t backoff_ms_min; /* the least pause before each, doubled each time; both 0 = none */
    uint64_t backoff_ms_max;
    uint64_t for_ms; /* no retry begins later after the first try; 0 = no bound */
};

/* The default of `retry`. A test compares it with the tables of config/language.c. */
static inline struct retry retry_usual(void)
{
    return (struct retry){ .max = 3 };
}

/* How workers are removed. */
struct removal {
    uint32_t mode;       /* enum weir_remove */
    uint64_t timeout_ms; /* for leaving workers, and for all at the end; 0 = no time-out */
};

/* The law of an elastic pool (pool/scaler.h), whose bounds are those of the pool. */
struct scale {
    bool on;          /* needs `size_max`, and another route than broadcast */
    uint64_t wait_ms; /* it grows when messages wait so long; 0 = when one finds no idle worker */
    uint64_t idle_ms; /* a worker that is unused for so long leaves */
};

/* The leases of a pool (actor/leases.h), which routes by pull. */
struct lease_settings {
    bool on;
    uint64_t timeout_ms; /* a lease that lasts longer is revoked; 0 = no time-out */
    uint32_t queue;      /* takers that may wait for a worker */
};

struct pool_settings {
    uint32_t size_min, size_max; /* bounds of a run-time resize; both 0 = 0..POOL_SIZE_MAX */
    bool clamp;                  /* a resize past the bounds is reduced to them, without an error */
    uint32_t mailbox;            /* limit of each mailbox; 0 = unlimited, or WEIR_UNBUFFERED */
    uint64_t mailbox_bytes;      /* of the payload that waits in each; 0 = unlimited */
    uint32_t route;              /* enum weir_route */
    struct restart restart;      /* of its member pools; the workers' spec has that of workers */
    struct retry retry;          /* for people; the workers' spec has it, too */
    struct removal remove;
    uint64_t open_timeout_ms; /* a worker that takes longer to open counts as none; 0 = as usual */
    struct scale scale;
    struct lease_settings lease;
};

#endif

/* SPDX-License-Identifier: MIT */
/*
 * embed/usual.h - the value of an option that an embedding program leaves 0: the default of the
 * same key in a file. A test compares these with the tables of config/language.c.
 */
#ifndef EMBED_USUAL_H
#define EMBED_USUAL_H

#include <stdint.h>

#include <weir/choices.h>

#define USUAL_LIMIT 64u                 /* `mailbox` */
#define USUAL_REMOVE_TIMEOUT_MS 30000ul /* `remove.timeout` */
#define USUAL_RATE_PER_MS 1000ul        /* `rate.per` */
#define USUAL_OPEN_TIMEOUT_MS 10000ul   /* `open_timeout` */
#define USUAL_SCALE_WAIT_MS 50ul        /* `scale.wait` */
#define USUAL_SCALE_IDLE_MS 30000ul     /* `scale.idle` */
#define USUAL_RETRY_MAX 3u              /* `retry.max` */
#define USUAL_LEASE_TIMEOUT_MS 30000ul  /* `lease.timeout` */
#define USUAL_LOG_LEVEL WEIR_LOG_INFO   /* `host.log.level` */

/* As core has it: 0 = unlimited. */
static inline uint32_t usual_limit(uint32_t given)
{
    return given == 0 ? USUAL_LIMIT : given == WEIR_UNLIMITED ? 0 : given;
}

/* As a file has it: as many as the workers, or more: all. */
static inline uint32_t usual_min_ready(uint32_t given)
{
    return given == 0 ? UINT32_MAX : given == WEIR_MIN_READY_NONE ? 0 : given;
}

/* As core has it: 0 = as long as it takes. */
static inline uint64_t usual_remove_timeout_ms(uint64_t given)
{
    return given == 0 ? USUAL_REMOVE_TIMEOUT_MS : given == WEIR_FOR_EVER ? 0 : given;
}

/* As core has it: 0 = no retries. */
static inline uint32_t usual_retry_max(uint32_t given)
{
    return given == 0 ? USUAL_RETRY_MAX : given == WEIR_RETRY_NONE ? 0 : given;
}

/* As core has it: 0 = none. */
static inline uint64_t usual_lease_timeout_ms(uint64_t given)
{
    return given == 0 ? USUAL_LEASE_TIMEOUT_MS : given == WEIR_FOR_EVER ? 0 : given;
}

#endif

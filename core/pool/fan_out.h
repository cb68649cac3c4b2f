/*
 * pool/fan_out.h - one message to every worker of a pool.
 */
#ifndef POOL_FAN_OUT_H
#define POOL_FAN_OUT_H

#include "actor/router.h"
#include "message/message.h"

struct executor;
struct pool;

/* Gives a copy to each worker below, of all levels, and adds up. Any thread, in a read section. */
void fan_out_below(struct pool *pool, struct executor *executor, const struct message *message,
                   struct fan_out *result);

#endif

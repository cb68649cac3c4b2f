/*
 * pool/reopening.h - workers are told that the files which they have open may have been renamed.
 *
 * It comes to each as a signal, so a full mailbox does not keep it out, and several become one.
 */
#ifndef POOL_REOPENING_H
#define POOL_REOPENING_H

struct executor;
struct pool;

/* Tells the workers of a pool, those that leave it too, and those of the pools below it, as far as
 * their behaviour has `reopen` or they have made children. Any thread, in a read section. */
void reopening_tell(struct pool *pool, struct executor *executor);

#endif

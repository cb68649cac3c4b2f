/*
 * pool/reopening.h - signals workers that their open files may have been renamed.
 *
 * It is a signal, so a full mailbox does not keep it out, and several become one.
 */
#ifndef POOL_REOPENING_H
#define POOL_REOPENING_H

struct executor;
struct pool;

/* Signals the workers of a pool, including leaving ones, and those of the pools below it, if their
 * behaviour has `reopen` or they have children. Any thread, in a read section. */
void reopening_tell(struct pool *pool, struct executor *executor);

#endif

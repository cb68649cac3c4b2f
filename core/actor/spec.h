/* SPDX-License-Identifier: MIT */
/*
 * actor/spec.h - the definition of an incarnation: one behaviour with its settings and bounds.
 *
 * Shared by all workers of a pool and one generation of its configuration; counted, immutable.
 */
#ifndef ACTOR_SPEC_H
#define ACTOR_SPEC_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "face/parts.h"

struct spec {
    const struct weir_behaviour *behaviour; /* const; outlives the spec */
    const void *settings;                   /* const; belongs to `owner` */
    const char *plugin;                     /* const; for people */
    const char *version;                    /* const; of the plugin; NULL: not known */
    uint32_t generation;                    /* const; of the plugin */
    const char *label; /* const: plugin, generation and behaviour in a crash line; may be
                          NULL; a child has its parent's */
    uint32_t in_hand_max;
    bool in_order; /* a worker settles its messages in the order in which it takes them */
    struct retry retry;
    uint32_t redeliver_max;
    uint32_t outbox_max;
    struct restart restart;
    struct poison *poison; /* const, owned; NULL = none */
    uint32_t poison_count;
    void (*release)(void *owner); /* after the last reference; may be NULL */
    void *owner;
    /* On its own line: actors that begin or end write it; the fields above are read for each
     * message. */
    alignas(64) _Atomic uint32_t references;
};

/* The most retries that wait in one worker; with that many it takes no new message:
 * docs/decisions/071. */
#define SPEC_RETRIES_MAX 16
#define SPEC_OUTBOX_MAX 256 /* semantics O.1 */

/*
 * A spec with the usual bounds and one reference; NULL when memory is out. Borrows behaviour and
 * settings until `release` is called.
 */
struct spec *spec_create(const struct weir_behaviour *behaviour, const void *settings);

struct tag_table;

/* Makes the label from the fields above. Call it before the spec is used. WEIR_ENOMEM. */
int spec_make_label(struct spec *spec, struct tag_table *names);

/* Copies messages that it must not handle. Call it before the spec is used. WEIR_ENOMEM. */
int spec_set_poison(struct spec *spec, const struct poison *poison, uint32_t count);

/* How often a message with this identity has crashed the program, if it must not be handled;
 * else 0. */
uint32_t spec_crashes_of(const struct spec *spec, uint64_t identity);

struct spec *spec_ref(struct spec *spec);

/* Calls `visit` with the path of each pool that an option of its settings names: an option of kind
 * WEIR_POOL, or a value of a map of pools. */
void spec_visit_pools(const struct spec *spec, void (*visit)(void *context, const char *path),
                      void *context);
/* True when there is such a path. */
bool spec_names_pools(const struct spec *spec);

#endif

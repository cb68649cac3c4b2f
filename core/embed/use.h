/* SPDX-License-Identifier: MIT */
/*
 * embed/use.h - a copy of the behaviour that an embedding program passes in, with its settings.
 */
#ifndef EMBED_USE_H
#define EMBED_USE_H

#include "embed/part.h"

/* The number of rows of a list such as WEIR_ROUTE_LIST: a program may give a lower number. */
#define CHOICES_OF(list) (0u list(CHOICES_ONE))
#define CHOICES_ONE(name, number, word) +1u

/* The common part of the options of pools and actors. */
struct use_options {
    const struct weir_behaviour *behaviour; /* borrowed until return */
    uint32_t behaviour_size;                /* of the struct in the program's headers */
    const void *settings; /* borrowed; until the last use, if the use gets a `release` */
    uint32_t redeliver_max;
    const struct restart *restart; /* borrowed until return; NULL = as usual */
    const struct retry *retry;     /* likewise */
};

/* Of struct weir_behaviour in version 1.0: up to and with `close`. */
#define USE_BEHAVIOUR_SIZE_MIN (offsetof(struct weir_behaviour, close) + sizeof(void (*)(void)))

/* Lives as long as its spec. */
struct use {
    struct weir_behaviour behaviour;
    void *settings;
    void (*release)(void *settings); /* after the last use; NULL at first: borrowed */
};

/* Returns a spec with one reference; the options are valid. WEIR_ENOMEM. */
int use_create_spec(struct weir_runtime *runtime, const struct use_options *options,
                    struct spec **out_spec, struct use **out_use);

/* Valid outputs as bindings; `count` may be 0. Returns owned. WEIR_ENOMEM. */
int use_create_bindings(const struct weir_binding *outputs, uint32_t count, uint32_t binding_size,
                        struct binding **out);

/* `size` bytes of `given`, as far as `known_size` reaches, over a zeroed struct. */
void use_copy(void *known, size_t known_size, const void *given, uint32_t size);

#endif

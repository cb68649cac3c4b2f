/* SPDX-License-Identifier: MIT */
/*
 * face/parts.h - what parts are made of: behaviours, restarts, outputs.
 *
 * A part of weir_core.h, through which the host and libweir include it.
 */
#ifndef FACE_PARTS_H
#define FACE_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pool_settings.h"
#include "base/rate.h"

#include <weir/plugin.h>

struct runtime;
struct spec;
struct wiring;
struct wiring_slot;

#define EVENTS_NAME_MAX 127
#define PLACE_PATH_MAX 128   /* of a pool, source or actor; with the end of the text */
#define ACTOR_DETAIL_SIZE 48 /* as <weir/message.h> has it for dead letters */

/* A message that has crashed the program. */
struct poison {
    uint64_t identity; /* of weir_set_identity */
    uint32_t crashes;
};

struct spec_options {
    const struct weir_behaviour *behaviour; /* borrowed, with the settings, until `release` */
    const void *settings;
    const char *plugin;  /* for people; borrowed likewise; NULL: not known */
    const char *version; /* of the plugin; likewise */
    uint32_t generation; /* of the plugin */
    uint32_t redeliver_max;
    bool in_order; /* a worker settles in the order in which it takes, whatever its `in_hand` */
    const struct restart *restart; /* borrowed until return; NULL = keep trying, as usual */
    const struct retry *retry;     /* likewise; NULL = as usual */
    /* Messages that are dead `poison` in place of a call of `handle`; copied. */
    const struct poison *poison;
    uint32_t poison_count;
    void (*release)(void *owner); /* after the last reference, if this succeeds; may be NULL */
    void *owner;
};

/* Makes a spec, from which workers are made: a behaviour with its settings and bounds. Counted,
 * immutable. Returns one reference. WEIR_ENOMEM. */
int spec_make(struct runtime *runtime, const struct spec_options *options, struct spec **out);
/* NULL is allowed. */
void spec_unref(struct spec *spec);

struct binding {
    weir_pid target; /* 0 = unbound */
    enum weir_when_full when_full;
};

/* Where outputs lead; immutable. NULL when memory is out. Returns owned. */
struct wiring *wiring_make(const struct binding *bindings, uint32_t count);
/* A copy of the wiring in force. In a read section. NULL when memory is out. Returns owned. */
struct wiring *wiring_copy(struct wiring_slot *slot);
uint32_t wiring_count(const struct wiring *wiring);
/* Gives the outputs the rates of the same outputs in force. In a read section; before the wiring is
 * used. WEIR_ENOMEM. */
int wiring_keep_rates(struct wiring *wiring, struct wiring_slot *slot);
/* Gives an output a rate, for all that emit there together; before the wiring is used. The rate is
 * valid (base/rate.h), or without messages: none. WEIR_ENOMEM. */
int wiring_set_rate(struct wiring *wiring, uint32_t output, const struct rate *rate);
/* NULL is allowed. Only if the wiring was never published, or has no reader any more. */
void wiring_destroy(struct wiring *wiring);

#endif

/*
 * feeding.h - in which order parts close, so that each closes after all that feed it.
 */
#ifndef CORE_FEEDING_H
#define CORE_FEEDING_H

#include <stdint.h>

#include <weir/message.h>

struct wiring_slot;

/* A part that is to close. */
struct feeder {
    weir_pid pid;
    weir_pid parent;            /* the pool it is a member of; 0 = none */
    struct wiring_slot *wiring; /* where its outputs lead: see dead_letter_box */
};

/*
 * Gives each part its wave, 0 and up: it closes after all waves before. A part feeds where its
 * outputs lead, and what is nested there; a nested pool feeds the pool that it is in. What feeds
 * itself in a circle has one wave. Costs as much as there are parts and outputs. In a read section.
 * WEIR_ENOMEM.
 */
int feeding_waves(const struct feeder *parts, uint32_t count, uint32_t *out_waves);

#endif

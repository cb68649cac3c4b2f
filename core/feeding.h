/*
 * feeding.h - the order in which parts close: each part after all parts that feed it.
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
 * Gives each part its wave, 0 and up; a part closes after all earlier waves. A part feeds the
 * targets of its outputs and all pools nested in them; a nested pool feeds its parent. Parts that
 * feed each other in a circle share one wave. Time: linear in parts and outputs. Call it in a read
 * section. WEIR_ENOMEM.
 */
int feeding_waves(const struct feeder *parts, uint32_t count, uint32_t *out_waves);

#endif

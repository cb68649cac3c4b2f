/*
 * embed/feeding.h - in which order parts close, so that each closes after all that feed it.
 */
#ifndef EMBED_FEEDING_H
#define EMBED_FEEDING_H

#include "embed/part.h"

/*
 * Gives each part its wave, 0 and up: it closes after all waves before. A part feeds where its
 * outputs lead, and what is nested there; a nested pool feeds the pool that it is in. What feeds
 * itself in a circle has one wave. Costs as much as there are parts and outputs. In a read section.
 * WEIR_ENOMEM.
 */
int feeding_waves(struct part *const *parts, uint32_t count, uint32_t *out_waves);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * scale_picture.h - docs/guide/scaling.svg: what the law of an elastic pool does under the loads of
 * the simulation.
 */
#ifndef TESTS_UNIT_POOL_SCALE_PICTURE_H
#define TESTS_UNIT_POOL_SCALE_PICTURE_H

#include <stdio.h>

#include "unit/pool/scale_world.h"

/* The pool of the guide: {min: 2, max: 16}, {wait: 50ms, idle: 30s}, messages of 50 ms, workers
 * that open in 100 ms. */
void scale_picture_world(struct scale_world *world);

/* Simulates each load and draws it; the same text on every machine. */
void scale_picture_write(FILE *stream);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * settling.h - the verdict of a fetch, and its output.
 */
#ifndef SETTLING_H
#define SETTLING_H

#include "fetch.h"

/* The transfer has ended: settles the message and destroys the fetch, or keeps it until the output
 * has room. */
void settling_end(struct weir_self *self, struct fetch *fetch, CURLcode code);

/* Tries to send an answer that waits for room. */
void settling_send(struct weir_self *self, struct fetch *fetch);

/* Nobody wants the answer: rejects the message and destroys the fetch. The transfer is out of the
 * engine. */
void settling_give_up(struct weir_self *self, struct fetch *fetch);

#endif

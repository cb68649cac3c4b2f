/* SPDX-License-Identifier: MIT */
/*
 * kit_port.h - ports of the worker under test. A call of a port takes effect at once.
 *
 * Not synchronised: a thread must not call a port while another calls the kit.
 */
#ifndef SDK_TESTKIT_KIT_PORT_H
#define SDK_TESTKIT_KIT_PORT_H

#include "kit.h"

#include <weir/port.h>

/* The host call weir_port: one port for each incarnation, counted; NULL: no memory. */
struct weir_port *kit_port_get(struct weir_self *self);

/* At the end of the incarnation: calls of its port have no effect from now on. */
void kit_port_close(struct weir_kit *kit);

/* Adds a problem for each port that the plugin did not give back. */
void kit_port_find_forgotten(struct weir_kit *kit);

#endif

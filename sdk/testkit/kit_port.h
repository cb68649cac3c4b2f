/*
 * kit_port.h - ports of the worker under test: what its own threads would do is done at once.
 *
 * Not synchronised, as the whole kit: a call of a port must not meet one of the kit.
 */
#ifndef SDK_TESTKIT_KIT_PORT_H
#define SDK_TESTKIT_KIT_PORT_H

#include "kit.h"

#include <weir/port.h>

/* weir_port: one an incarnation, counted; NULL when the test wants no memory. */
struct weir_port *kit_port_get(struct weir_self *self);

/* The incarnation has ended. */
void kit_port_close(struct weir_kit *kit);

/* Notes the ports that the plugin did not give back. */
void kit_port_find_forgotten(struct weir_kit *kit);

#endif

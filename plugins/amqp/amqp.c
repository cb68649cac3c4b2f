/* SPDX-License-Identifier: MIT */
/*
 * amqp - work for other hosts, and from them, through the queues of RabbitMQ.
 */
#include "settings.h"

WEIR_PLUGIN_OF("amqp", "1.0.0", &amqp_consume, &amqp_publish);

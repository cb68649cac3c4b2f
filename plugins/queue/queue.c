/* SPDX-License-Identifier: MIT */
/*
 * queue - work that survives the process, and the machine: a queue in a file, without a server.
 */
#include "settings.h"

WEIR_PLUGIN_OF("queue", "1.0.0", &queue_put, &queue_take);

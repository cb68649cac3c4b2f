/* SPDX-License-Identifier: MIT */
/*
 * pgpool - a pool of connections to PostgreSQL, and a bank that uses it.
 */
#include "pgpool.h"

WEIR_PLUGIN_OF("pgpool", "1.0.0", &pgpool_connection, &pgpool_bank, &pgpool_orders);

/* SPDX-License-Identifier: MIT */
/*
 * station - readings of sensors: kept in order, watched, archived; alarms with pictures.
 */
#include "station.h"

WEIR_PLUGIN_OF("station", "1.0.0", &station_readings, &station_journal, &station_warm_up,
               &station_watch, &station_archive, &station_siren, &station_screen);

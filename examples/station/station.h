/* SPDX-License-Identifier: MIT */
/*
 * station.h - the messages of the behaviours of `station`, and the behaviours themselves, each of
 * which has its own file.
 */
#ifndef STATION_H
#define STATION_H

#include <weir/plugin.h>

#define STATION_SENSORS 4u
#define STATION_READING_TAG "station.reading/1"
#define STATION_PICTURE_TAG "station.picture/1"
#define STATION_ALARM "station.alarm" /* the event; its payload is a reading */

/* The layout of STATION_READING_TAG. */
struct station_reading {
    uint64_t number; /* from 0 */
    uint32_t sensor; /* less than STATION_SENSORS */
    uint32_t value;  /* less than 100 */
};

/* The reading in a message; NULL when the message has another tag or size. Borrowed. */
static inline const struct station_reading *station_reading_get(const struct weir_message *message,
                                                                const struct weir_tag *tag)
{
    return message->tag == tag && message->size == sizeof(struct station_reading)
               ? (const struct station_reading *)message->data
               : NULL;
}

extern const struct weir_behaviour station_readings;
extern const struct weir_behaviour station_journal;
extern const struct weir_behaviour station_warm_up;
extern const struct weir_behaviour station_watch;
extern const struct weir_behaviour station_archive;
extern const struct weir_behaviour station_siren;
extern const struct weir_behaviour station_screen;

#endif

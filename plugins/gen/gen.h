/* SPDX-License-Identifier: MIT */
/*
 * gen.h - the message of the plugin `gen`: a number.
 *
 * For plugins that receive it. Inline only: there is nothing to link. The layout is frozen; a
 * changed one gets another tag.
 */
#ifndef GEN_H
#define GEN_H

#include <weir/message.h>

#define GEN_NUMBER_TAG "gen.number/1"

struct gen_number {
    uint64_t number;
};

/* The payload of a message tagged GEN_NUMBER_TAG; NULL when its size does not fit. Borrowed. */
static inline const struct gen_number *gen_number_get(const struct weir_message *message)
{
    return message->size == sizeof(struct gen_number) ? (const struct gen_number *)message->data
                                                      : NULL;
}

#endif

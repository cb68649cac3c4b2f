/* SPDX-License-Identifier: MIT */
#include "pool/rendezvous.h"

#include <stdlib.h>

/* Times are fractions of a block's size: with 22 bits behind the point, and 32 more for the
 * smallest blocks, a sum of 32 of them stays below 2^64. */
#define TIME_BITS 22u
#define NUMBER_BITS 32u

static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ull;
    return x ^ x >> 33;
}

/* --- draws ---------------------------------------------------------------------------------- */

/* Numbers from `first` on, 2^bits of them; `first` is a multiple of that. */
struct block {
    uint32_t first;
    uint32_t bits;
};

static uint64_t draw(uint64_t key, struct block block)
{
    return mix(key + ((uint64_t)block.first << 6 | block.bits) * 0x9e3779b97f4a7c15ull);
}

/*
 * -log2 of a number between 0 and 1, drawn as 32 bits: the earliest time among equally many. The
 * logarithm of 1 + f is a polynomial, accurate to 0.0002, an error that the shares do not show.
 */
static uint64_t waiting_of(uint32_t drawn)
{
    uint32_t zeros = (uint32_t)__builtin_clz(drawn | 1);
    /* f, its powers and the logarithm, with TIME_BITS behind the point; the factors with 16. */
    uint64_t f = (uint32_t)((uint64_t)(drawn | 1) << (zeros + 1)) >> (32 - TIME_BITS);
    uint64_t f2 = f * f >> TIME_BITS;
    uint64_t f3 = f2 * f >> TIME_BITS;
    uint64_t f4 = f2 * f2 >> TIME_BITS;
    uint64_t log = (94288 * f + 21049 * f3 - 44419 * f2 - 5382 * f4) >> 16;

    /* At least 1, so that a further draw is later. */
    return ((uint64_t)(zeros + 1) << TIME_BITS) - log + 1;
}

static uint64_t time_of(uint64_t drawn, uint32_t bits)
{
    return waiting_of((uint32_t)(drawn >> 32)) << (NUMBER_BITS - bits);
}

/* The number in the block that has the earliest time. */
static uint32_t place_of(uint64_t drawn, struct block block)
{
    return block.first | ((uint32_t)drawn & (uint32_t)((1ull << block.bits) - 1));
}

/* The half of 2^bits numbers without `number`. */
static struct block other_half(uint32_t number, uint32_t bits)
{
    return (struct block){ (number ^ 1u << bits) >> bits << bits, bits };
}

/* The outermost block with the number. */
static struct block block_of(uint32_t number)
{
    uint32_t bits = number > 1 ? 31u - (uint32_t)__builtin_clz(number) : 0;

    return (struct block){ number >> bits << bits, bits };
}

uint64_t rendezvous_time(uint64_t key, uint32_t number)
{
    struct block block = block_of(number);
    uint64_t mixed = mix(key);
    uint64_t drawn = draw(mixed, block);
    uint64_t time = time_of(drawn, block.bits);
    uint32_t place = place_of(drawn, block);

    for (uint32_t bits = block.bits; bits-- > 0;) {
        if (((place ^ number) >> bits & 1) == 0)
            continue;
        block = other_half(place, bits);
        drawn = draw(mixed, block);
        time += time_of(drawn, bits);
        place = place_of(drawn, block);
    }
    return time;
}

/* --- members -------------------------------------------------------------------------------- */

struct search {
    const struct members *members;
    uint32_t gaps; /* numbers below the highest that have no member */
    uint64_t key;  /* mixed */
    uint64_t time;
    uint32_t owner; /* its index */
};

static uint32_t highest(const struct members *members)
{
    return members->members[members->count - 1].index;
}

/* The index of the first member with that number or a higher one: the number minus the gaps below
 * it. */
static uint32_t find(const struct search *search, uint32_t number)
{
    uint32_t from = number > search->gaps ? number - search->gaps : 0;
    uint32_t to = number < search->members->count ? number : search->members->count;

    while (from < to) {
        uint32_t middle = from + (to - from) / 2;

        if (search->members->members[middle].index < number)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static bool has_any(const struct search *search, struct block block)
{
    uint32_t at = search->gaps ? find(search, block.first) : block.first;

    return at < search->members->count &&
           (search->members->members[at].index ^ block.first) >> block.bits == 0;
}

/* The index of the member with the number; UINT32_MAX: there is none. */
static uint32_t member_with(const struct search *search, uint32_t number)
{
    uint32_t at = search->gaps ? find(search, number) : number;

    if (at >= search->members->count || search->members->members[at].index != number)
        return UINT32_MAX;
    return at;
}

/* --- looking for the earliest ---------------------------------------------------------------- */

/* At equal times the lowest number wins, whose index is the lowest. */
static void offer(struct search *search, uint64_t time, uint32_t at)
{
    if (time > search->time || (time == search->time && at > search->owner))
        return;
    search->time = time;
    search->owner = at;
}

/*
 * Searches a block, if it has members, whose earliest number comes after `since`. If that number
 * has no member, searches all the halves without it. At most NUMBER_BITS deep.
 */
static void look_into(struct search *search, struct block block, uint64_t since)
{
    uint64_t drawn = draw(search->key, block);
    uint64_t time = since + time_of(drawn, block.bits);
    uint32_t place, at;

    if (time > search->time)
        return;
    place = place_of(drawn, block);
    at = member_with(search, place);
    if (at != UINT32_MAX) {
        offer(search, time, at);
        return;
    }
    if (!has_any(search, block))
        return;
    for (uint32_t bits = block.bits; bits-- > 0;)
        look_into(search, other_half(place, bits), time);
}

uint32_t rendezvous_owner(const struct members *members, uint64_t key)
{
    struct search search = { members, highest(members) - (members->count - 1), mix(key), UINT64_MAX,
                             0 };
    struct block block = block_of(highest(members));

    /* The largest block first: it holds half of them, and its result rules out most others. */
    look_into(&search, block, 0);
    while (block.first > 0) {
        block = block_of(block.first - 1);
        look_into(&search, block, 0);
    }
    return search.owner;
}

/* --- order ---------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    uint32_t one = ((const struct member *)a)->index;
    uint32_t other = ((const struct member *)b)->index;

    return one < other ? -1 : one > other;
}

void rendezvous_sort(struct members *members)
{
    /* Mostly they are in order: a new member has the next number. */
    for (uint32_t i = 1; i < members->count; i++)
        if (members->members[i].index < members->members[i - 1].index) {
            qsort(members->members, members->count, sizeof members->members[0], compare);
            return;
        }
}

#include "actor/given_up.h"

#include <stdlib.h>

#define CAPACITY_MIN 64u

void given_up_init(struct given_up *given_up)
{
    *given_up = (struct given_up){ .capacity = 0 };
    pthread_mutex_init(&given_up->lock, NULL);
}

void given_up_finish(struct given_up *given_up)
{
    free(given_up->notes);
    pthread_mutex_destroy(&given_up->lock);
}

/* --- the table: at most half of it is in use, so that each search ends at a free cell -------- */

/* The cell where the search for a note begins. The factor is odd and spreads the low bits over the
 * high. */
static uint32_t home_of(const struct given_up *given_up, const struct given_up_note *note)
{
    uint64_t hash = (note->requester ^ (note->reference << 20 | note->reference >> 44)) *
                    0x9e3779b97f4a7c15ull;

    return (uint32_t)(hash >> 32) & (given_up->capacity - 1);
}

static uint32_t next_of(const struct given_up *given_up, uint32_t cell)
{
    return (cell + 1) & (given_up->capacity - 1);
}

/* The cell of a note, or the free cell for it. The table is not empty. */
static uint32_t find_locked(const struct given_up *given_up, const struct given_up_note *note)
{
    uint32_t cell = home_of(given_up, note);

    while (given_up->notes[cell].reference && (given_up->notes[cell].reference != note->reference ||
                                               given_up->notes[cell].requester != note->requester))
        cell = next_of(given_up, cell);
    return cell;
}

static bool resize_locked(struct given_up *given_up, uint32_t capacity)
{
    struct given_up before = { .notes = given_up->notes, .capacity = given_up->capacity };
    struct given_up_note *notes = calloc(capacity, sizeof *notes);

    if (!notes)
        return false;
    given_up->notes = notes;
    given_up->capacity = capacity;
    for (uint32_t i = 0; i < before.capacity; i++)
        if (before.notes[i].reference)
            given_up->notes[find_locked(given_up, &before.notes[i])] = before.notes[i];
    free(before.notes);
    return true;
}

/* Moves up the following notes that belong before the free cell, one after the other. */
static void remove_locked(struct given_up *given_up, uint32_t cell)
{
    uint32_t mask = given_up->capacity - 1;

    for (uint32_t i = next_of(given_up, cell); given_up->notes[i].reference;
         i = next_of(given_up, i)) {
        uint32_t home = home_of(given_up, &given_up->notes[i]);

        if (((i - home) & mask) < ((i - cell) & mask))
            continue;
        given_up->notes[cell] = given_up->notes[i];
        cell = i;
    }
    given_up->notes[cell].reference = 0;
}

/* --- notes ---------------------------------------------------------------------------------- */

/* Relaxed: changes under the lock. */
static uint32_t count_of(const struct given_up *given_up)
{
    return atomic_load_explicit(&given_up->count, memory_order_relaxed);
}

static void set_count_locked(struct given_up *given_up, uint32_t count)
{
    atomic_store_explicit(&given_up->count, count, memory_order_relaxed);
    if (count > 0)
        return;
    free(given_up->notes); /* the table keeps its largest size, so it is freed when it is empty */
    given_up->notes = NULL;
    given_up->capacity = 0;
}

static bool has_room_locked(struct given_up *given_up)
{
    uint32_t capacity = given_up->capacity ? given_up->capacity * 2 : CAPACITY_MIN;

    return (count_of(given_up) + 1) * 2ull <= given_up->capacity ||
           (capacity > given_up->capacity && resize_locked(given_up, capacity));
}

void given_up_add(struct given_up *given_up, weir_pid requester, uint64_t reference)
{
    const struct given_up_note note = { requester, reference };
    uint32_t cell;
    bool is_new;

    pthread_mutex_lock(&given_up->lock);
    if (has_room_locked(given_up)) {
        cell = find_locked(given_up, &note);
        is_new = !given_up->notes[cell].reference;
        given_up->notes[cell] = note;
        if (is_new)
            set_count_locked(given_up, count_of(given_up) + 1);
    }
    pthread_mutex_unlock(&given_up->lock);
}

static bool look(struct given_up *given_up, const struct given_up_note *note, bool takes)
{
    bool found = false;
    uint32_t cell;

    if (!given_up_any(given_up))
        return false;
    pthread_mutex_lock(&given_up->lock);
    if (given_up->capacity) {
        cell = find_locked(given_up, note);
        found = given_up->notes[cell].reference != 0;
        if (found && takes) {
            remove_locked(given_up, cell);
            set_count_locked(given_up, count_of(given_up) - 1);
        }
    }
    pthread_mutex_unlock(&given_up->lock);
    return found;
}

bool given_up_has(struct given_up *given_up, weir_pid requester, uint64_t reference)
{
    return look(given_up, &(struct given_up_note){ requester, reference }, false);
}

bool given_up_take(struct given_up *given_up, weir_pid requester, uint64_t reference)
{
    return look(given_up, &(struct given_up_note){ requester, reference }, true);
}

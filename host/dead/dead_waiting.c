/* SPDX-License-Identifier: MIT */
#include "host/dead/dead_waiting.h"

#include <stdlib.h>
#include <string.h>

#include "weir_core.h"

#define KEPT_MAX (8u << 20) /* bytes of an empty text that wait for its next use */

void dead_waiting_finish(struct dead_waiting *waiting)
{
    for (size_t i = 0; i < waiting->owner_count; i++) {
        free(waiting->owners[i].name);
        dead_batch_finish(&waiting->owners[i].batch);
    }
    free(waiting->owners);
    free(waiting->text.bytes);
    *waiting = (struct dead_waiting){ .owners = NULL };
}

/* --- owners ----------------------------------------------------------------------------------- */

static struct dead_owner *find(const struct dead_waiting *waiting, const char *path)
{
    for (size_t i = 0; i < waiting->owner_count; i++)
        if (dead_shares_owns(waiting->owners[i].name, path))
            return &waiting->owners[i];
    return NULL;
}

static struct dead_owner *add_owner(struct dead_waiting *waiting, const char *path)
{
    char *name = strndup(path, dead_shares_owner_size(path));
    struct dead_owner *owners = NULL;

    if (name && waiting->owner_count < DEAD_STORE_STREAMS_MAX)
        owners = realloc(waiting->owners, (waiting->owner_count + 1) * sizeof *owners);
    if (!owners) {
        free(name);
        return NULL;
    }
    waiting->owners = owners;
    owners[waiting->owner_count] = (struct dead_owner){ .name = name };
    return &owners[waiting->owner_count++];
}

struct dead_owner *dead_waiting_owner(struct dead_waiting *waiting, const char *path)
{
    struct dead_owner *owner = find(waiting, path);

    return owner ? owner : add_owner(waiting, path);
}

static uint64_t size_of(const struct dead_owner *owner)
{
    return owner->batch.text.size + owner->writing.size;
}

bool dead_waiting_is_full(const struct dead_waiting *waiting, const char *path, size_t bound)
{
    const struct dead_owner *owner = find(waiting, path);

    return owner && size_of(owner) >= bound;
}

static uint64_t number_of(const struct dead_waiting *waiting, const struct dead_owner *owner,
                          uint64_t number)
{
    return (uint64_t)(owner - waiting->owners) << DEAD_STORE_STREAM_SHIFT | number;
}

/* --- adding ----------------------------------------------------------------------------------- */

/* Bytes of the owner in the file. */
static uint64_t share_of(const struct dead_place *place, const struct dead_owner *owner)
{
    return place->output ? dead_shares_of(&place->output->shares, owner->name) : 0;
}

/* For the record of `size` bytes at the end of the owner's batch, as if the batch were in the file.
 * Other owners may have much that is held. */
static bool has_room(const struct dead_waiting *waiting, const struct dead_owner *owner,
                     size_t size, const struct dead_place *place)
{
    const uint64_t before = owner->batch.text.size - size;
    const uint64_t total = place->output ? place->output->size : 0;

    return dead_shares_allow(share_of(place, owner) + owner->writing.size + before, size,
                             total + waiting->text.size + before, place->size_max, false);
}

uint64_t dead_waiting_add(struct dead_waiting *waiting, struct dead_owner *owner,
                          const struct dead_record *record, uint64_t time_us, bool is_awaited,
                          const struct dead_place *place, size_t bound)
{
    struct dead_text *text = &owner->batch.text;
    const struct dead_id id = { waiting->run, number_of(waiting, owner, owner->number + 1) };
    const size_t before = text->size;

    if ((!is_awaited && size_of(owner) >= bound) ||
        dead_record_write(text, record, &id, time_us) != 0)
        return 0;
    if (!is_awaited && !has_room(waiting, owner, text->size - before, place)) {
        text->size = before;
        return 0;
    }
    waiting->size += text->size - before;
    waiting->count++;
    owner->batch.count++;
    owner->number++;
    return id.number;
}

bool dead_waiting_mark(struct dead_waiting *waiting, uint64_t number)
{
    const uint64_t index = number >> DEAD_STORE_STREAM_SHIFT;
    struct dead_owner *owner = index < waiting->owner_count ? &waiting->owners[index] : NULL;
    uint64_t next = owner ? owner->number - owner->batch.count + 1 : 0;
    char *record;

    number &= (UINT64_C(1) << DEAD_STORE_STREAM_SHIFT) - 1;
    if (!owner || number < next || number > owner->number)
        return false;
    for (record = owner->batch.text.bytes; next < number; next++)
        record += dead_record_size(record);
    record[DEAD_RECORD_STATE] = 'r';
    return true;
}

/* --- writing ---------------------------------------------------------------------------------- */

static int gather(struct dead_waiting *waiting, struct dead_owner *owner, struct dead_part part)
{
    if (dead_batch_move(&owner->batch, part, &waiting->text) != 0)
        return WEIR_ENOMEM;
    owner->writing = part;
    waiting->writing_count += part.count;
    return 0;
}

int dead_waiting_gather(struct dead_waiting *waiting, const struct dead_place *place)
{
    int status = 0;

    for (size_t i = 0; i < waiting->owner_count && status == 0; i++) {
        struct dead_owner *owner = &waiting->owners[i];
        const uint64_t size = place->output ? place->output->size : 0;
        const struct dead_part part = dead_batch_fitting(&owner->batch, share_of(place, owner),
                                                         size + waiting->text.size,
                                                         place->output ? place->size_max : 0);

        owner->is_held = owner->batch.count > 0 && part.count == 0;
        if (part.count > 0)
            status = gather(waiting, owner, part);
    }
    return status;
}

int dead_waiting_gather_all(struct dead_waiting *waiting)
{
    const struct dead_place nowhere = { .output = NULL };

    return dead_waiting_gather(waiting, &nowhere);
}

uint64_t dead_waiting_end_part(struct dead_waiting *waiting, size_t owner)
{
    struct dead_owner *ends = &waiting->owners[owner];

    waiting->size -= ends->writing.size;
    waiting->count -= ends->writing.count;
    ends->ended += ends->writing.count;
    ends->writing = (struct dead_part){ 0, 0 };
    return number_of(waiting, ends, ends->ended);
}

void dead_waiting_end(struct dead_waiting *waiting)
{
    waiting->writing_count = 0;
    waiting->text.size = 0;
    if (waiting->text.capacity > KEPT_MAX) {
        free(waiting->text.bytes);
        waiting->text = (struct dead_text){ .bytes = NULL };
    }
}

bool dead_waiting_is_busy(const struct dead_waiting *waiting)
{
    bool is_busy = waiting->writing_count > 0;

    for (size_t i = 0; i < waiting->owner_count && !is_busy; i++)
        is_busy = waiting->owners[i].batch.count > 0 && !waiting->owners[i].is_held;
    return is_busy;
}

bool dead_waiting_has_held(const struct dead_waiting *waiting)
{
    bool has_held = false;

    for (size_t i = 0; i < waiting->owner_count && !has_held; i++)
        has_held = waiting->owners[i].is_held;
    return has_held;
}

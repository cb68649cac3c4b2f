/* SPDX-License-Identifier: MIT */
#include "actor/standalone.h"

#include <stdio.h>
#include <stdlib.h>

#include "actor/children.h"
#include "actor/end.h"
#include "actor/runtime.h"
#include "actor/spawn.h"

/* Last turn of the actor. */
static void ended(struct place *place)
{
    struct standalone *standalone = (struct standalone *)(void *)((char *)place->owner -
                                                                  offsetof(struct standalone,
                                                                           owner));

    if (standalone->name[0])
        names_remove(&standalone->runtime->names, standalone->name, standalone->pid,
                     &place->actor->executor->reader);
    lock_acquire(&standalone->lock);
    ledger_read(&place->actor->ledger, &place->actor->mailbox, &standalone->ledger);
    children_add_ledger(place, &standalone->ledger);
    standalone->place = NULL;
    lock_release(&standalone->lock);
    atomic_store_explicit(&standalone->ended, true, memory_order_release);
}

static const struct owner_ops owner_ops = { .ended = ended };

static int create_actor(struct standalone *standalone, struct executor *executor,
                        const struct standalone_options *options)
{
    struct actor_options actor = { .dispatcher = options->dispatcher,
                                   .spec = options->spec,
                                   .kind = ACTOR_WORKER,
                                   .limit = options->limit };
    int status = place_create(standalone->name, 0, &standalone->place);

    if (status != 0)
        return status;
    standalone->place->dead = &standalone->dead;
    standalone->place->gives_notice = true;
    standalone->place->wiring = &standalone->wiring;
    standalone->owner.ops = &owner_ops;
    standalone->place->owner = &standalone->owner;
    actor.place = standalone->place;
    status = actor_create(standalone->runtime, executor, &actor, &standalone->actor);
    if (status != 0) {
        place_destroy(standalone->place);
        return status;
    }
    standalone->pid = actor_pid(standalone->actor);
    return 0;
}

static int create_named_actor(struct standalone *standalone, struct executor *executor,
                              const struct standalone_options *options)
{
    int status = create_actor(standalone, executor, options);

    if (status != 0 || !standalone->name[0] || options->is_hidden)
        return status;
    status = names_add(&standalone->runtime->names, standalone->name, standalone->pid,
                       &executor->reader);
    if (status != 0)
        end_unborn(standalone->actor, executor);
    return status;
}

int standalone_create(struct runtime *runtime, struct executor *executor,
                      const struct standalone_options *options, struct standalone **out)
{
    struct standalone *standalone = calloc(1, sizeof *standalone);
    const char *name = options->name ? options->name : "";
    int length;
    int status = WEIR_EINVALID;

    if (!standalone)
        return WEIR_ENOMEM;
    standalone->runtime = runtime;
    standalone->spec = spec_ref(options->spec);
    length = snprintf(standalone->name, sizeof standalone->name, "%s", name);
    lock_init(&standalone->lock, LOCK_STANDALONE);
    dead_letters_init(&standalone->dead, options->dead_letters);
    atomic_init(&standalone->wiring.wiring, options->wiring);
    if (length >= 0 && (size_t)length < sizeof standalone->name)
        status = create_named_actor(standalone, executor, options);
    if (status != 0) {
        atomic_store(&standalone->wiring.wiring, NULL); /* it still belongs to the caller */
        standalone_destroy(standalone);
        return status;
    }
    *out = standalone;
    actor_begin(standalone->actor, executor);
    return 0;
}

void standalone_set_wiring(struct standalone *standalone, struct wiring *wiring,
                           struct executor *executor)
{
    wiring_publish(&standalone->wiring, wiring, executor);
    (void)actor_signal(standalone->actor, actor_serial_of(standalone->pid), executor, SIGNAL_ROOM);
    lock_acquire(&standalone->lock); /* the place lives */
    children_look_again(standalone->place, executor);
    lock_release(&standalone->lock);
}

int standalone_opening(struct standalone *standalone)
{
    int status = WEIR_ECLOSED;

    lock_acquire(&standalone->lock);
    if (standalone->place) {
        /* Acquire pairs with the release in open_actor: the status is of an open. */
        uint32_t opens = atomic_load_explicit(&standalone->place->opens, memory_order_acquire);

        status = opens ? atomic_load_explicit(&standalone->place->open_status, memory_order_relaxed)
                       : 1;
    }
    lock_release(&standalone->lock);
    return status;
}

void standalone_ledger(struct standalone *standalone, struct ledger_reading *out)
{
    lock_acquire(&standalone->lock);
    if (standalone->place) {
        ledger_read(&standalone->actor->ledger, &standalone->actor->mailbox, out);
        children_add_ledger(standalone->place, out);
    } else {
        *out = standalone->ledger;
    }
    lock_release(&standalone->lock);
}

void standalone_close(struct standalone *standalone, struct executor *executor)
{
    (void)actor_signal(standalone->actor, actor_serial_of(standalone->pid), executor, SIGNAL_DRAIN);
}

void standalone_stop_now(struct standalone *standalone, struct executor *executor)
{
    (void)actor_signal(standalone->actor, actor_serial_of(standalone->pid), executor, SIGNAL_STOP);
}

void standalone_destroy(struct standalone *standalone)
{
    if (!standalone)
        return;
    wiring_destroy(atomic_load(&standalone->wiring.wiring));
    dead_letters_finish(&standalone->dead);
    lock_finish(&standalone->lock);
    spec_unref(standalone->spec);
    free(standalone);
}

#include "actor/single.h"

#include <stdio.h>
#include <stdlib.h>

#include "actor/children.h"
#include "actor/end.h"
#include "actor/runtime.h"

/* Last turn of the actor. */
static void ended(struct place *place)
{
    struct single *single = (struct single *)(void *)((char *)place->owner -
                                                      offsetof(struct single, owner));

    if (single->name[0])
        names_remove(&single->runtime->names, single->name, single->pid,
                     &place->actor->executor->reader);
    pthread_mutex_lock(&single->lock);
    ledger_read(&place->actor->ledger, &place->actor->mailbox, &single->ledger);
    children_add_ledger(place, &single->ledger);
    single->place = NULL;
    pthread_mutex_unlock(&single->lock);
    atomic_store_explicit(&single->ended, true, memory_order_release);
}

static const struct owner_ops owner_ops = { .ended = ended };

static int create_actor(struct single *single, struct executor *executor,
                        const struct single_options *options)
{
    struct actor_options actor = { .dispatcher = options->dispatcher,
                                   .spec = options->spec,
                                   .kind = ACTOR_WORKER,
                                   .limit = options->limit };
    int status = place_create(single->name, 0, &single->place);

    if (status != 0)
        return status;
    single->place->dead = &single->dead;
    single->place->gives_notice = true;
    single->place->wiring = &single->wiring;
    single->owner.ops = &owner_ops;
    single->place->owner = &single->owner;
    actor.place = single->place;
    status = actor_create(single->runtime, executor, &actor, &single->actor);
    if (status != 0) {
        place_destroy(single->place);
        return status;
    }
    single->pid = actor_pid(single->actor);
    return 0;
}

static int create_named_actor(struct single *single, struct executor *executor,
                              const struct single_options *options)
{
    int status = create_actor(single, executor, options);

    if (status != 0 || !single->name[0] || options->is_hidden)
        return status;
    status = names_add(&single->runtime->names, single->name, single->pid, &executor->reader);
    if (status != 0)
        end_unborn(single->actor, executor);
    return status;
}

int single_create(struct runtime *runtime, struct executor *executor,
                  const struct single_options *options, struct single **out)
{
    struct single *single = calloc(1, sizeof *single);
    const char *name = options->name ? options->name : "";
    int length;
    int status = WEIR_EINVALID;

    if (!single)
        return WEIR_ENOMEM;
    single->runtime = runtime;
    length = snprintf(single->name, sizeof single->name, "%s", name);
    pthread_mutex_init(&single->lock, NULL);
    dead_letters_init(&single->dead, options->dead_letters);
    atomic_init(&single->wiring.wiring, options->wiring);
    if (length >= 0 && (size_t)length < sizeof single->name)
        status = create_named_actor(single, executor, options);
    if (status != 0) {
        atomic_store(&single->wiring.wiring, NULL); /* it still belongs to the caller */
        single_destroy(single);
        return status;
    }
    *out = single;
    actor_begin(single->actor, executor);
    return 0;
}

void single_set_wiring(struct single *single, struct wiring *wiring, struct executor *executor)
{
    wiring_publish(&single->wiring, wiring, &executor->reader);
    (void)actor_signal(single->actor, actor_serial_of(single->pid), executor, SIGNAL_ROOM);
    pthread_mutex_lock(&single->lock); /* the place lives */
    children_look_again(single->place, executor);
    pthread_mutex_unlock(&single->lock);
}

int single_opening(struct single *single)
{
    int status = WEIR_ECLOSED;

    pthread_mutex_lock(&single->lock);
    if (single->place) {
        /* Acquire pairs with the release in incarnation_open: the status is of an open. */
        uint32_t opens = atomic_load_explicit(&single->place->opens, memory_order_acquire);

        status = opens ? atomic_load_explicit(&single->place->open_status, memory_order_relaxed)
                       : 1;
    }
    pthread_mutex_unlock(&single->lock);
    return status;
}

void single_ledger(struct single *single, struct ledger_reading *out)
{
    pthread_mutex_lock(&single->lock);
    if (single->place) {
        ledger_read(&single->actor->ledger, &single->actor->mailbox, out);
        children_add_ledger(single->place, out);
    } else {
        *out = single->ledger;
    }
    pthread_mutex_unlock(&single->lock);
}

void single_close(struct single *single, struct executor *executor)
{
    (void)actor_signal(single->actor, actor_serial_of(single->pid), executor, SIGNAL_DRAIN);
}

void single_stop_now(struct single *single, struct executor *executor)
{
    (void)actor_signal(single->actor, actor_serial_of(single->pid), executor, SIGNAL_STOP);
}

void single_destroy(struct single *single)
{
    if (!single)
        return;
    wiring_destroy(atomic_load(&single->wiring.wiring));
    dead_letters_finish(&single->dead);
    pthread_mutex_destroy(&single->lock);
    free(single);
}

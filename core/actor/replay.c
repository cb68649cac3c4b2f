/* SPDX-License-Identifier: MIT */
#include "actor/replay.h"

#include <string.h>

#include "actor/find.h"
#include "actor/runtime.h"
#include "actor/send.h"

struct replaying {
    struct runtime *runtime;
    struct executor *executor;
    const struct wiring *wiring;
    weir_pid target;
    weir_pid full; /* the last receiver without room; 0 = none */
};

static weir_pid destination_of(const struct replaying *replaying, const struct dead_letter *letter)
{
    const struct wiring *wiring = replaying->wiring;

    if (letter->way.to)
        return letter->way.to;
    if (letter->way.output == DEAD_LETTER_DIRECT)
        return replaying->target;
    if (wiring && letter->way.table != wiring->table)
        return letter->way.led_to;
    return wiring && letter->way.output < wiring->count
               ? wiring->bindings[letter->way.output].target
               : 0;
}

/* A message for one actor alone is sent to that actor, or to none. */
static bool has_receiver(struct runtime *runtime, const struct dead_letter *letter)
{
    struct actor *actor;

    return !letter->way.is_leased &&
           (!letter->way.to || actor_find_alive(runtime, letter->way.to, &actor) == 0);
}

static bool can_be_sent(struct runtime *runtime, const struct dead_letter *letter)
{
    return (letter->whole || letter->size == 0) && letter->kind <= WEIR_EVENT &&
           has_receiver(runtime, letter);
}

static struct message *revive(const struct replaying *replaying, const struct dead_message *dead)
{
    const struct dead_letter *letter = &dead->letter;
    const char *label = letter->detail + strlen(letter->detail) - letter->label_size;
    size_t room = label[0] ? message_label_room(label) : 0;
    struct message *message = message_create_counted(&replaying->executor->cache, letter->tag,
                                                     letter->size + room);

    if (!message)
        return NULL;
    if (room > 0)
        message_set_label(message, letter->size, label, room);
    if (letter->size)
        memcpy(message->public.data, dead->payload, letter->size);
    message->public.from = letter->from;
    message->public.key = letter->key;
    if (letter->kind == WEIR_EVENT)
        message->public.kind = WEIR_EVENT;
    return message;
}

static int send_again(struct replaying *replaying, const struct dead_message *dead)
{
    weir_pid to = destination_of(replaying, &dead->letter);
    struct message *message;
    int status;

    /* After one refusal there is no room for the next either, unless its key has another owner;
     * refusals would be counted again. */
    if (to && to == replaying->full && dead->letter.key == 0)
        return WEIR_EFULL;
    message = revive(replaying, dead);
    if (!message)
        return WEIR_ENOMEM;
    status = send_message(replaying->runtime, replaying->executor, to,
                          (enum weir_lane)dead->letter.lane, message);
    if (status != 0)
        message_destroy(&replaying->executor->cache, message);
    if (status == WEIR_EFULL)
        replaying->full = to;
    return status;
}

/* The dead letter was accepted again. */
static void mark_record(struct runtime *runtime, const struct dead_message *dead)
{
    const struct dead_store *store = &runtime->options.dead_store;

    if (dead->letter.record && store->sent_again)
        store->sent_again(store->context, dead->letter.record);
}

/* True when the dead letter was accepted again. */
static bool try_dead_letter(struct replaying *replaying, const struct dead_message *dead,
                            struct replay_result *result)
{
    int status;

    if (!can_be_sent(replaying->runtime, &dead->letter)) {
        result->unable++;
        return false;
    }
    status = send_again(replaying, dead);
    if (status != 0)
        result->status = status;
    return status == 0;
}

void replay(struct runtime *runtime, struct executor *executor, struct dead_letters *letters,
            struct wiring_slot *wiring, weir_pid target, struct replay_result *out)
{
    struct replaying replaying = { runtime, executor, wiring_get(wiring), target, 0 };
    struct dead_message *dead = dead_letters_take(letters);
    struct dead_message *left = NULL;
    struct dead_message **end = &left;

    *out = (struct replay_result){ 0 };
    while (dead) {
        struct dead_message *next = dead->next;

        if (try_dead_letter(&replaying, dead, out)) {
            mark_record(runtime, dead);
            dead_letters_replayed(letters, dead);
            out->replayed++;
        } else {
            dead->next = NULL;
            *end = dead;
            end = &dead->next;
            out->left++;
        }
        dead = next;
    }
    dead_letters_put_back(letters, left);
}

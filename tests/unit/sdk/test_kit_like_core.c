/* SPDX-License-Identifier: MIT */
/*
 * Goal: host calls have the same results in the test kit as in core (promise B12). Results that a
 * test sets are left out: room, memory, replies, the figures of pools.
 * Method: one behaviour makes the same calls twice, in the kit and as a worker on a core that the
 * test steps by hand. It writes down each answer, and each callback with its time. The test
 * compares both texts.
 */
#include <stdlib.h>
#include <string.h>

#include "both_hosts.h"
#include "unit/host/suite.h"

#define STASH_MORE 257u /* one more than fit */

static struct weir_message *make(struct weir_self *self)
{
    struct weir_message *made = weir_message_new(self, weir_tag(self, "text/1"), 5);

    CU_ASSERT_PTR_NOT_NULL_FATAL(made);
    return made;
}

/* --- messages --------------------------------------------------------------------------------- */

static void make_messages(struct weir_self *self, struct scene *scene,
                          const struct weir_message *message)
{
    struct weir_message *made = make(self);
    struct weir_message *empty = weir_message_new(self, NULL, 0);
    struct weir_message *labelled = weir_message_new_labelled(self, made->tag, 5, "piece 7");
    struct weir_message *both = weir_message_new_labelled(self, NULL, 0, "");

    scene_note(scene, "size", (int64_t)made->size);
    scene_note(scene, "kind", made->kind);
    scene_note(scene, "attempt", made->attempt);
    scene_note(scene, "lane", made->lane);
    scene_note(scene, "zeroed", ((char *)made->data)[4]);
    scene_note(scene, "aligned", (int64_t)((uintptr_t)made->data % 16));
    scene_note(scene, "same tag", made->tag == weir_tag(self, "text/1"));
    scene_note(scene, "no tag", empty->tag == NULL);
    scene_note(scene, "in hand, attempt", message->attempt);
    scene_note(scene, "in hand, kind", message->kind);
    scene_note(scene, "time left", weir_time_left(self, message) == UINT64_MAX);
    scene_note(scene, "blob of none", weir_message_blob(self, made) == NULL);
    scene_note(scene, "labelled, size", (int64_t)labelled->size);
    scene_note(scene, "labelled, zeroed", ((char *)labelled->data)[4]);
    scene_note(scene, "labelled, same tag", labelled->tag == made->tag);
    scene_note(scene, "labelled, no data", both->data == NULL);
    weir_message_free(self, made);
    weir_message_free(self, empty);
    weir_message_free(self, labelled);
    weir_message_free(self, both);
    weir_message_free(self, NULL);
}

/* Of a call that takes the message on 0. */
static void note_sent(struct weir_self *self, struct scene *scene, const char *what,
                      struct weir_message *made, int status)
{
    scene_note(scene, what, status);
    if (status < 0)
        weir_message_free(self, made);
}

static void send_wrongly(struct weir_self *self, struct scene *scene,
                         const struct weir_message *message)
{
    const weir_pid other = scene->other;
    struct weir_message *made = make(self);

    note_sent(self, scene, "send to nobody", made, weir_send(self, 0, made));
    made = make(self);
    note_sent(self, scene, "send in no lane", made,
              weir_send_lane(self, other, (enum weir_lane)9, made));
    made = make(self);
    note_sent(self, scene, "emit at no output", made, weir_emit(self, 3, made));
    made = make(self);
    note_sent(self, scene, "reply to no request", made, weir_reply(self, message, made));
    made = make(self);
    scene_note(scene, "origin without settled", weir_set_origin(self, made, 7));
    scene_note(scene, "detach", weir_detach(self, made));
    scene_note(scene, "join", weir_join(self, made, message));
    scene_note(scene, "send a chain of none", weir_send_chain(self, other, &made, 0));
    note_sent(self, scene, "send a chain to nobody", made, weir_send_chain(self, 0, &made, 1));
    made = make(self);
    scene_note(scene, "send a chain", weir_send_chain(self, other, &made, 1));
    made = make(self);
    note_sent(self, scene, "send", made, weir_send(self, other, made));
    scene_note(scene, "forward to nobody", weir_forward(self, 0, message));
    scene_note(scene, "forward in no lane",
               weir_forward_lane(self, other, (enum weir_lane)9, message));
}

static void forward_it(struct weir_self *self, struct scene *scene,
                       const struct weir_message *message)
{
    scene_note(scene, "forward", weir_forward(self, scene->other, message));
}

static void keep_it(struct weir_self *self, struct scene *scene, const struct weir_message *message)
{
    (void)self;
    scene->kept = message;
    scene->verdict = WEIR_KEEP;
}

static void name_pieces(struct weir_self *self, struct scene *scene)
{
    struct weir_message *plain = weir_message_new(self, NULL, 8);
    struct weir_message *labelled = weir_message_new_labelled(self, NULL, 8, "in:1");

    scene_note(scene, "identity without a label", weir_set_identity(self, plain, "a", 1));
    scene_note(scene, "no identity", weir_set_identity(self, labelled, "", 0));
    scene_note(scene, "identity", weir_set_identity(self, labelled, "a", 1));
    weir_message_free(self, plain);
    weir_message_free(self, labelled);
}

static void demand_less(struct weir_self *self, struct scene *scene,
                        const struct weir_message *message)
{
    (void)message;
    scene_note(scene, "descriptors", weir_set_descriptors(self, 10));
    scene_note(scene, "no descriptors", weir_set_descriptors(self, 0));
    weir_child_process(self, 1);
    weir_child_process(self, -1);
    scene_note(scene, "fits", weir_message_fits(self, SIZE_MAX / 2));
    name_pieces(self, scene);
    scene_note(scene, "demand too much", weir_set_demand(self, 1000));
    scene_note(scene, "demand nothing", weir_set_demand(self, 0));
    scene_note(scene, "demand one", weir_set_demand(self, 1));
}

static void settle_kept(struct weir_self *self, struct scene *scene,
                        const struct weir_message *message)
{
    scene_note(scene, "settle as stopped", weir_settle(self, scene->kept, WEIR_STOP));
    scene_note(scene, "settle as kept", weir_settle(self, scene->kept, WEIR_KEEP));
    scene_note(scene, "settle as no verdict", weir_settle(self, scene->kept, WEIR_POSTPONE + 1));
    scene_note(scene, "settle", weir_settle(self, scene->kept, WEIR_DONE));
    scene_note(scene, "settle in hand", weir_settle(self, message, WEIR_DONE));
}

static void test_messages_are_alike(void)
{
    static const struct scene_step making[] = { { make_messages, 0 }, { NULL, 0 } };
    static const struct scene_step sending[] = { { send_wrongly, 0 },
                                                 { forward_it, 0 },
                                                 { NULL, 0 } };
    static const struct scene_step keeping[] = { { keep_it, 0 }, { settle_kept, 0 }, { NULL, 0 } };
    static const struct scene_step demanding[] = { { demand_less, 0 }, { NULL, 0 } };

    both_hosts_compare(making);
    both_hosts_compare(sending);
    both_hosts_compare(keeping);
    both_hosts_compare(demanding);
}

/* --- the stash -------------------------------------------------------------------------------- */

static void stash_it(struct weir_self *self, struct scene *scene,
                     const struct weir_message *message)
{
    /* It comes again when it is unstashed. */
    if (scene->number == 0)
        scene_note(scene, "stash", weir_stash(self, message));
    else
        scene_note(scene, "again", (int64_t)scene->number--);
}

static void give_stash(struct weir_self *self, struct scene *scene,
                       const struct weir_message *message)
{
    (void)message;
    scene_note(scene, "unstash none", weir_unstash(self, 0));
    scene->number = weir_unstash(self, UINT32_MAX);
    scene_note(scene, "unstash", (int64_t)scene->number);
    scene_note(scene, "unstash again", weir_unstash(self, UINT32_MAX));
}

static void test_stash_is_alike(void)
{
    struct scene_step *steps = calloc(STASH_MORE + 2, sizeof *steps);

    CU_ASSERT_PTR_NOT_NULL_FATAL(steps);
    for (uint32_t i = 0; i < STASH_MORE; i++)
        steps[i].run = stash_it;
    steps[STASH_MORE].run = give_stash;
    both_hosts_compare(steps);
    free(steps);
}

/* --- putting back ----------------------------------------------------------------------------- */

static void put_back_it(struct weir_self *self, struct scene *scene,
                        const struct weir_message *message)
{
    if (scene->number++ > 0) {
        scene_note(scene, "again, attempt", message->attempt);
        return;
    }
    scene_note(scene, "put back", weir_put_back(self, message));
    scene_note(scene, "put back twice", weir_put_back(self, message));
}

static void put_back_kept(struct weir_self *self, struct scene *scene,
                          const struct weir_message *message)
{
    if (scene->number++ > 2) {
        scene_note(scene, "again, attempt", message->attempt);
        return;
    }
    scene_note(scene, "put back kept", weir_put_back(self, scene->kept));
    scene_note(scene, "settle it", weir_settle(self, scene->kept, WEIR_DONE));
    scene_note(scene, "put back in hand", weir_put_back(self, message));
}

static void keep_first(struct weir_self *self, struct scene *scene,
                       const struct weir_message *message)
{
    (void)self;
    if (scene->number++ > 1) {
        scene_note(scene, "kept one again, attempt", message->attempt);
        return;
    }
    scene->kept = message;
    scene->verdict = WEIR_KEEP;
}

static void test_putting_back_is_alike(void)
{
    static const struct scene_step in_hand[] = { { put_back_it, 0 }, { NULL, 0 } };
    static const struct scene_step kept[] = { { keep_first, 0 },
                                              { put_back_kept, 0 },
                                              { NULL, 0 } };

    both_hosts_compare(in_hand);
    both_hosts_compare(kept);
}

/* --- time ------------------------------------------------------------------------------------- */

static void tick(struct weir_self *self, void *state, void *context)
{
    struct scene *scene = context;

    (void)state;
    scene_note(scene, "tick at", (int64_t)(weir_now_ms(self) - scene->start_ms));
}

static void replied(struct weir_self *self, void *state, void *context,
                    const struct weir_reply *reply)
{
    struct scene *scene = context;

    (void)state;
    scene_note(scene, "reply", reply->status);
    scene_note(scene, "reply at", (int64_t)(weir_now_ms(self) - scene->start_ms));
    scene_note(scene, "reply is the cancelled", reply->reference == scene->number);
}

static void arm(struct weir_self *self, struct scene *scene, const struct weir_message *message)
{
    uint64_t timer = 0;

    (void)message;
    scene->start_ms = weir_now_ms(self);
    scene_note(scene, "after without tick", weir_after(self, 5, NULL, scene, NULL));
    scene_note(scene, "every without tick", weir_every(self, 5, NULL, scene, NULL));
    scene_note(scene, "every 0", weir_every(self, 0, tick, scene, NULL));
    scene_note(scene, "after", weir_after(self, 5, tick, scene, &timer));
    scene_note(scene, "every", weir_every(self, 4, tick, scene, NULL));
    scene_note(scene, "after 0", weir_after(self, 0, tick, scene, NULL));
    scene_note(scene, "after the same", weir_after(self, 9, tick, scene, NULL));
    scene_note(scene, "cancel", weir_cancel_timer(self, timer));
    scene_note(scene, "cancel again", weir_cancel_timer(self, timer));
    scene_note(scene, "cancel none", weir_cancel_timer(self, 0));
    scene_note(scene, "cancel another", weir_cancel_timer(self, timer + 1000));
}

static void send_later(struct weir_self *self, struct scene *scene,
                       const struct weir_message *message)
{
    uint64_t timer = 0;

    (void)message;
    scene->start_ms = weir_now_ms(self);
    scene_note(scene, "send to nobody later", weir_send_after(self, 0, make(self), 4, NULL));
    scene_note(scene, "send later", weir_send_after(self, scene->other, make(self), 4, NULL));
    scene_note(scene, "send not", weir_send_after(self, scene->other, make(self), 4, &timer));
    scene_note(scene, "cancel", weir_cancel_timer(self, timer));
    scene_note(scene, "cancel again", weir_cancel_timer(self, timer));
    scene_note(scene, "cancel as a request", weir_cancel(self, timer));
}

static void ask(struct weir_self *self, struct scene *scene, const struct weir_message *message)
{
    const weir_pid other = scene->other;
    struct weir_message *made = make(self);

    (void)message;
    scene->start_ms = weir_now_ms(self);
    note_sent(self, scene, "request of nobody", made,
              weir_request(self, 0, made, 9, replied, scene, NULL));
    made = make(self);
    note_sent(self, scene, "request without then", made,
              weir_request(self, other, made, 9, NULL, scene, NULL));
    made = make(self);
    note_sent(self, scene, "request", made,
              weir_request(self, other, made, 7, replied, scene, NULL));
    made = make(self);
    note_sent(self, scene, "request to cancel", made,
              weir_request(self, other, made, 9, replied, scene, &scene->number));
    scene_note(scene, "cancel", weir_cancel(self, scene->number));
    scene_note(scene, "cancel again", weir_cancel(self, scene->number));
    scene_note(scene, "cancel none", weir_cancel(self, 0));
}

/* The answers of both hosts to calls with unknown leases. */
static void call_leases(struct weir_self *self, struct scene *scene,
                        const struct weir_message *message)
{
    const struct weir_lease none = { .pool = scene->other, .member = scene->other };
    struct weir_message *made = make(self);

    (void)message;
    scene_note(scene, "take from nobody", weir_take(self, 0, 9, replied, scene, NULL));
    note_sent(self, scene, "send under no lease", made, weir_lease_send(self, &none, made));
    made = make(self);
    note_sent(self, scene, "request under no lease", made,
              weir_lease_request(self, &none, made, 9, replied, scene, NULL));
    scene_note(scene, "return none", weir_return(self, &none, WEIR_DONE));
    scene_note(scene, "return as kept", weir_return(self, &none, WEIR_KEEP));
    scene_note(scene, "renew none", weir_lease_renew(self, &none));
}

static void test_leases_are_alike(void)
{
    static const struct scene_step steps[] = { { call_leases, 0 }, { NULL, 0 } };

    both_hosts_compare(steps);
}

static void test_time_is_alike(void)
{
    static const struct scene_step timers[] = { { arm, 0 }, { NULL, 20 }, { NULL, 0 } };
    static const struct scene_step sending[] = { { send_later, 0 }, { NULL, 20 }, { NULL, 0 } };
    static const struct scene_step requests[] = { { ask, 0 }, { NULL, 20 }, { NULL, 0 } };

    both_hosts_compare(timers);
    both_hosts_compare(sending);
    both_hosts_compare(requests);
}

/* --- others ----------------------------------------------------------------------------------- */

static void meet(struct weir_self *self, struct scene *scene, const struct weir_message *message)
{
    uint64_t monitor = 0;

    (void)message;
    scene_note(scene, "link nobody", weir_link(self, 0));
    scene_note(scene, "unlink nobody", weir_unlink(self, 0));
    scene_note(scene, "link", weir_link(self, scene->other));
    scene_note(scene, "link again", weir_link(self, scene->other));
    scene_note(scene, "unlink", weir_unlink(self, scene->other));
    scene_note(scene, "monitor nobody", weir_monitor(self, 0, &monitor));
    scene_note(scene, "monitor", weir_monitor(self, scene->other, &monitor));
    scene_note(scene, "demonitor", weir_demonitor(self, monitor));
    scene_note(scene, "demonitor again", weir_demonitor(self, monitor));
    scene_note(scene, "demonitor none", weir_demonitor(self, 0));
    scene_note(scene, "exit of nobody", weir_exit(self, 0, WEIR_END_SHUTDOWN));
    scene_note(scene, "trap exits", weir_trap_exits(self, true));
}

static void call_names(struct weir_self *self, struct scene *scene,
                       const struct weir_message *message)
{
    char name[200];
    weir_pid pid = 0;

    (void)message;
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    scene_note(scene, "name", weir_name(self, "mine"));
    scene_note(scene, "name again", weir_name(self, "mine"));
    scene_note(scene, "name nothing", weir_name(self, ""));
    scene_note(scene, "name at length", weir_name(self, name));
    scene_note(scene, "lookup", weir_lookup(self, "mine", &pid));
    scene_note(scene, "is mine", pid == weir_pid_of(self));
    scene_note(scene, "rename", weir_rename(self, "mine", "ours"));
    scene_note(scene, "lookup the old", weir_lookup(self, "mine", &pid));
    scene_note(scene, "lookup the new", weir_lookup(self, "ours", &pid));
    scene_note(scene, "rename nobody", weir_rename(self, "nobody", "somebody"));
    scene_note(scene, "rename to nothing", weir_rename(self, "ours", ""));
}

static void call_events(struct weir_self *self, struct scene *scene,
                        const struct weir_message *message)
{
    struct weir_message *made = make(self);
    char name[200];
    uint64_t event = 0;
    uint32_t taken = 7, refused = 7;

    (void)message;
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    scene_note(scene, "event", weir_event(self, "done", &event));
    scene_note(scene, "event again", weir_event(self, "done", &event));
    scene_note(scene, "event without name", weir_event(self, "", &event));
    scene_note(scene, "event of length", weir_event(self, name, &event));
    name[127] = '\0';
    scene_note(scene, "event of 127", weir_event(self, name, &event));
    scene_note(scene, "subscribe", weir_subscribe(self, "news"));
    scene_note(scene, "subscribe again", weir_subscribe(self, "news"));
    scene_note(scene, "subscribe nothing", weir_subscribe(self, ""));
    scene_note(scene, "unsubscribe", weir_unsubscribe(self, "news"));
    scene_note(scene, "unsubscribe again", weir_unsubscribe(self, "news"));
    scene_note(scene, "unsubscribe unknown", weir_unsubscribe(self, "unknown"));
    note_sent(self, scene, "publish unknown", made,
              weir_publish(self, event + 1000, made, &taken, &refused));
    made = make(self);
    scene_note(scene, "publish", weir_publish(self, event, made, &taken, &refused));
    scene_note(scene, "taken", taken);
    scene_note(scene, "refused", refused);
}

static int handle_nothing(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    return WEIR_DONE;
}

static void call_children(struct weir_self *self, struct scene *scene,
                          const struct weir_message *message)
{
    static const struct weir_behaviour mute = { .name = "mute" };
    static const struct weir_behaviour part = { .name = "part", .handle = handle_nothing };
    struct weir_spawn_options options = WEIR_SPAWN_OPTIONS;
    weir_pid child = 0;

    (void)message;
    scene_note(scene, "parent", (int64_t)weir_parent(self));
    scene_note(scene, "spawn nothing", weir_spawn(self, &options, &child));
    options.behaviour = &mute;
    scene_note(scene, "spawn without handle", weir_spawn(self, &options, &child));
    scene_note(scene, "stop nobody", weir_stop(self, 0));
    scene_note(scene, "stop another", weir_stop(self, scene->other));
    options.behaviour = &part;
    scene_note(scene, "spawn", weir_spawn(self, &options, &child));
    scene_note(scene, "stop", weir_stop(self, child));
    scene_note(scene, "stop again", weir_stop_now(self, child));
    options.behaviour_size = 8;
    scene_note(scene, "spawn of no size", weir_spawn(self, &options, &child));
}

static void call_others(struct weir_self *self, struct scene *scene,
                        const struct weir_message *message)
{
    const char *items[WEIR_INSPECT_ITEMS_MAX + 2];

    (void)message;
    for (size_t i = 0; i < WEIR_INSPECT_ITEMS_MAX + 1; i++)
        items[i] = "item";
    items[WEIR_INSPECT_ITEMS_MAX + 1] = NULL;
    scene_note(scene, "leave", weir_leave_position(self, "x", 1));
    scene_note(scene, "inspect nobody", weir_inspect(self, 0, NULL, 9, replied, scene, NULL));
    scene_note(scene, "inspect without then",
               weir_inspect(self, scene->other, NULL, 9, NULL, scene, NULL));
    scene_note(scene, "inspect too much",
               weir_inspect(self, scene->other, items, 9, replied, scene, NULL));
    scene_note(scene, "index", weir_index(self));
}

static void call_pools(struct weir_self *self, struct scene *scene,
                       const struct weir_message *message)
{
    struct weir_pool_stats stats = { .size = sizeof stats };
    struct weir_resized resized;
    struct weir_member members[2];
    uint32_t count = 2;

    (void)message;
    scene_note(scene, "resize nobody", weir_pool_resize(self, 0, 3, &resized));
    scene_note(scene, "add to nobody", weir_pool_add(self, 0, 1, &resized));
    scene_note(scene, "pause nobody", weir_pool_pause(self, 0));
    scene_note(scene, "resume nobody", weir_pool_resume(self, 0));
    scene_note(scene, "tell of nobody", weir_pool_tell(self, 0, 1));
    scene_note(scene, "members of nobody", weir_pool_members(self, 0, members, count, &count));
    scene_note(scene, "stats of nobody", weir_pool_stats(self, 0, &stats));
}

static void call_blobs(struct weir_self *self, struct scene *scene,
                       const struct weir_message *message)
{
    struct weir_blob *blob = weir_blob_new(self, 100);
    struct weir_message *made = weir_message_with_blob(self, NULL, blob);

    (void)message;
    scene_note(scene, "size", (int64_t)blob->size);
    scene_note(scene, "aligned", (int64_t)((uintptr_t)blob->data % 64));
    scene_note(scene, "size of the message", (int64_t)made->size);
    scene_note(scene, "data of the message", made->data == blob->data);
    scene_note(scene, "blob of the message", weir_message_blob(self, made) == blob);
    weir_blob_release(blob);
    weir_message_free(self, made);
}

static void test_others_are_alike(void)
{
    static const struct scene_step pools[] = { { call_pools, 0 }, { NULL, 0 } };
    static const struct scene_step blobs[] = { { call_blobs, 0 }, { NULL, 0 } };
    static const struct scene_step ties[] = { { meet, 0 }, { NULL, 0 } };
    static const struct scene_step naming[] = { { call_names, 0 }, { NULL, 0 } };
    static const struct scene_step events[] = { { call_events, 0 }, { NULL, 0 } };
    static const struct scene_step children[] = { { call_children, 0 }, { NULL, 0 } };
    static const struct scene_step rest[] = { { call_others, 0 }, { NULL, 0 } };

    both_hosts_compare(pools);
    both_hosts_compare(blobs);
    both_hosts_compare(ties);
    both_hosts_compare(naming);
    both_hosts_compare(events);
    both_hosts_compare(children);
    both_hosts_compare(rest);
}

/* --- open and close --------------------------------------------------------------------------- */

static void call_in_open(struct weir_self *self, struct scene *scene,
                         const struct weir_message *message)
{
    struct weir_message *made = make(self);
    weir_pid pid = 0;

    (void)message;
    scene->start_ms = weir_now_ms(self);
    scene_note(scene, "name", weir_name(self, "mine"));
    scene_note(scene, "lookup before the open is over", weir_lookup(self, "mine", &pid));
    scene_note(scene, "name again", weir_name(self, "mine"));
    note_sent(self, scene, "send", made, weir_send(self, scene->other, made));
    scene_note(scene, "after", weir_after(self, 5, tick, scene, NULL));
    scene_note(scene, "subscribe", weir_subscribe(self, "news"));
    scene_note(scene, "unstash", weir_unstash(self, 9));
    scene_note(scene, "link", weir_link(self, scene->other));
}

static void call_in_close(struct weir_self *self, struct scene *scene,
                          const struct weir_message *message)
{
    static const struct weir_behaviour part = { .name = "part", .handle = handle_nothing };
    struct weir_spawn_options options = WEIR_SPAWN_OPTIONS;
    struct weir_message *made = make(self);
    weir_pid pid = 0;

    (void)message;
    options.behaviour = &part;
    note_sent(self, scene, "send", made, weir_send(self, scene->other, made));
    made = make(self);
    note_sent(self, scene, "emit", made, weir_emit(self, 3, made));
    made = make(self);
    note_sent(self, scene, "request", made,
              weir_request(self, scene->other, made, 9, replied, scene, NULL));
    scene_note(scene, "after", weir_after(self, 5, tick, scene, NULL));
    scene_note(scene, "lookup", weir_lookup(self, "mine", &pid));
    scene_note(scene, "name", weir_name(self, "late"));
    scene_note(scene, "subscribe", weir_subscribe(self, "late"));
    scene_note(scene, "unstash", weir_unstash(self, 9));
    scene_note(scene, "spawn", weir_spawn(self, &options, &pid));
}

static void test_open_and_close_are_alike(void)
{
    both_hosts_compare_life(call_in_open, call_in_close);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "messages", test_messages_are_alike },
        { "stash", test_stash_is_alike },
        { "put back", test_putting_back_is_alike },
        { "time", test_time_is_alike },
        { "leases", test_leases_are_alike },
        { "others", test_others_are_alike },
        { "open and close", test_open_and_close_are_alike },
        CU_TEST_INFO_NULL,
    };

    return suite_run("sdk: test kit, like core", tests);
}

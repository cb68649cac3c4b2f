/* SPDX-License-Identifier: MIT */
#include "session.h"

#include <inttypes.h>

#define FRAMES_MAX 256u /* read in one turn, so that others run, too */
#define NAME_SIZE 256u

static void pump(struct weir_self *self, struct session *session);

void session_init(struct session *session, const struct amqp_settings *settings,
                  const struct session_calls *calls, void *user)
{
    link_init(&session->link, settings);
    session->calls = calls;
    session->user = user;
    session->watch = session->dial_watch = session->dial_timer = 0;
    session->dial = NULL;
    session->tries = 0;
    session->refusal[0] = '\0';
    session->reconnects = session->is_leaving = session->was_blocked = false;
}

void session_finish(struct session *session)
{
    dial_drop(session->dial);
    session->dial = NULL;
    link_finish(&session->link);
}

bool session_is_up(const struct session *session)
{
    return session->link.connection != NULL;
}

/* --- connecting ------------------------------------------------------------------------------- */

static void on_dialled(struct weir_self *self, void *memory, void *context, int descriptor,
                       int readiness);
static void on_dial_late(struct weir_self *self, void *memory, void *context);
static void reconnect(struct weir_self *self, void *memory, void *context);

/* A link that is down has the server of the next try. */
static struct dial *dial(struct weir_self *self, struct session *session)
{
    char name[NAME_SIZE];
    struct link_use use = { name, session->calls->begin };

    (void)snprintf(name, sizeof name, "weir %.200s", weir_path(self));
    session->dial = dial_start(session->link.settings, session->link.server, &use);
    if (!session->dial)
        (void)link_fail(&session->link, "no memory or no thread to connect");
    return session->dial;
}

/* Without memory for the watch or the timer, the next beat looks. */
static void await_dial(struct weir_self *self, struct session *session)
{
    if (session->dial_watch == 0)
        (void)weir_watch(self, dial_descriptor(session->dial), WEIR_READABLE, on_dialled, session,
                         &session->dial_watch);
    if (session->dial_timer == 0)
        (void)weir_after(self, session->link.settings->timeout, on_dial_late, session,
                         &session->dial_timer);
}

static void forget_dial(struct weir_self *self, struct session *session)
{
    if (session->dial_watch != 0)
        (void)weir_unwatch(self, session->dial_watch);
    if (session->dial_timer != 0)
        (void)weir_cancel_timer(self, session->dial_timer);
    session->dial_watch = session->dial_timer = 0;
    session->dial = NULL;
}

/* Takes the result of a try that is over. */
static int take_dial(struct weir_self *self, struct session *session)
{
    struct dial *dial = session->dial;

    forget_dial(self, session);
    return dial_take(dial, &session->link);
}

/* The names of a server are not found within the time of a step. */
static int give_up_dial(struct weir_self *self, struct session *session)
{
    struct dial *dial = session->dial;

    forget_dial(self, session);
    dial_drop(dial);
    session->link.is_refused = false;
    return link_fail(&session->link, "%.250s: no address and no connection within %" PRIu64 " ms",
                     session->link.settings->servers.items[session->link.server],
                     session->link.settings->timeout);
}

static void come_up(struct weir_self *self, struct session *session)
{
    char server[NAME_SIZE];

    session->tries = 0;
    session->refusal[0] = session->link.error[0] = '\0';
    session->up_since = weir_now_ms(self);
    session->calls->up(session->user);
    link_name_server(&session->link, server, sizeof server);
    weir_progress_text(self, "server", server);
    weir_log(self, WEIR_LOG_INFO, "connected", weir_str("server", server),
             weir_str("queue", session->link.settings->queue));
}

/* The link's error says why the present server failed. True: the next one is to be tried. False:
 * all have failed, and the error names a refusal rather than an absent server. */
static bool turn_to_next(struct session *session)
{
    struct link *link = &session->link;

    if (link->is_refused)
        memcpy(session->refusal, link->error, sizeof session->refusal);
    link_turn(link);
    if (++session->tries < link->settings->servers.count)
        return true;
    link->is_refused = session->refusal[0] != '\0';
    if (link->is_refused)
        (void)link_fail(link, "%s", session->refusal);
    session->tries = 0;
    session->refusal[0] = '\0';
    return false;
}

static void reconnect_later(struct weir_self *self, struct session *session)
{
    uint64_t wait = link_backoff_ms(&session->link);

    if (session->is_leaving)
        return;
    weir_log(self, WEIR_LOG_ERROR, "no connection; trying again",
             weir_str("reason", session->link.error), weir_uint("in_ms", wait));
    session->reconnects = weir_after(self, wait, reconnect, session, NULL) == 0;
}

static void dial_next(struct weir_self *self, struct session *session)
{
    while (!dial(self, session))
        if (!turn_to_next(session)) {
            reconnect_later(self, session);
            return;
        }
    await_dial(self, session);
}

static void dial_failed(struct weir_self *self, struct session *session)
{
    if (turn_to_next(session))
        dial_next(self, session);
    else
        reconnect_later(self, session);
}

static void look_at_dial(struct weir_self *self, struct session *session)
{
    if (!dial_wait(session->dial, 0))
        await_dial(self, session);
    else if (take_dial(self, session) != 0)
        dial_failed(self, session);
    else {
        come_up(self, session);
        pump(self, session);
    }
}

static void on_dialled(struct weir_self *self, void *memory, void *context, int descriptor,
                       int readiness)
{
    struct session *session = context;

    (void)memory;
    (void)descriptor;
    (void)readiness;
    session->dial_watch = 0;
    look_at_dial(self, session);
}

static void on_dial_late(struct weir_self *self, void *memory, void *context)
{
    struct session *session = context;

    (void)memory;
    session->dial_timer = 0;
    if (!dial_is_opening(session->dial))
        return;
    (void)give_up_dial(self, session);
    dial_failed(self, session);
}

static void reconnect(struct weir_self *self, void *memory, void *context)
{
    struct session *session = context;

    (void)memory;
    session->reconnects = false;
    if (!session->is_leaving)
        dial_next(self, session);
}

static void wake(struct weir_self *self, void *memory, void *context)
{
    (void)self;
    (void)memory;
    (void)context;
}

void session_leave(struct weir_self *self, struct session *session)
{
    struct dial *dial = session->dial;

    session->is_leaving = true;
    session->heard_at = weir_now_ms(self);
    forget_dial(self, session);
    dial_drop(dial);
    (void)weir_every(self, LINK_END_MS / 4, wake, session, NULL);
}

bool session_is_heard(struct weir_self *self, const struct session *session)
{
    return session_is_up(session) && weir_now_ms(self) - session->heard_at < LINK_END_MS;
}

void session_succeed(struct session *session)
{
    session->link.failures = 0;
}

void session_lose(struct weir_self *self, struct session *session)
{
    if (session->watch != 0)
        (void)weir_unwatch(self, session->watch);
    session->watch = 0;
    session->link.losses++;
    if (weir_now_ms(self) - session->up_since >= session->link.settings->backoff_max)
        session_succeed(session);
    link_drop(&session->link);
    link_turn(&session->link);
    session->was_blocked = false; /* nobody has said that the server takes messages again */
    session->calls->lost(self, session->user);
    reconnect_later(self, session);
}

/* --- reading ---------------------------------------------------------------------------------- */

static void on_readable(struct weir_self *self, void *memory, void *context, int descriptor,
                        int readiness)
{
    struct session *session = context;

    (void)memory;
    (void)descriptor;
    (void)readiness;
    session->watch = 0;
    pump(self, session);
}

static void pump_later(struct weir_self *self, void *memory, void *context)
{
    (void)memory;
    pump(self, context);
}

static void wait_for_more(struct weir_self *self, struct session *session, bool has_more)
{
    if (session->watch == 0 && weir_watch(self, link_descriptor(&session->link), WEIR_READABLE,
                                          on_readable, session, &session->watch) != 0)
        has_more = true;
    if (has_more)
        (void)weir_after(self, 1, pump_later, session, NULL);
}

static int reopen(struct weir_self *self, struct session *session)
{
    struct link *link = &session->link;

    weir_log(self, WEIR_LOG_WARNING, "refused by the server", weir_str("reason", link->refusal));
    session->calls->refused(self, session->user);
    return link_reopen(link);
}

/* Once for each change: messages wait meanwhile, and nobody else says why. */
static void note_blocked(struct weir_self *self, struct session *session)
{
    if (session->link.is_blocked == session->was_blocked)
        return;
    session->was_blocked = session->link.is_blocked;
    if (session->was_blocked)
        weir_log(self, WEIR_LOG_WARNING, "the server takes no messages",
                 weir_str("reason", "it lacks memory or disk"),
                 weir_str("effect", "messages wait until it takes them again"));
    else
        weir_log(self, WEIR_LOG_INFO, "the server takes messages again");
}

static void pump(struct weir_self *self, struct session *session)
{
    amqp_frame_t frame;
    uint32_t count = 0;
    bool is_good = true;
    int status = 1;

    while (session_is_up(session) && is_good && count < FRAMES_MAX &&
           (status = link_read(&session->link, &frame)) != 0) {
        if (session->link.refusal[0])
            status = reopen(self, session);
        if (status < 0)
            break;
        is_good = status == 0 || session->calls->take(self, session->user, &frame);
        link_release(&session->link);
        count++;
    }
    if (count > 0)
        session->heard_at = weir_now_ms(self);
    note_blocked(self, session);
    if (session_is_up(session) && (status < 0 || !is_good))
        session_lose(self, session);
    if (session_is_up(session))
        wait_for_more(self, session, count == FRAMES_MAX);
    session->calls->ready(self, session->user);
}

/* Reading also sends the heartbeats. */
static void on_beat(struct weir_self *self, void *memory, void *context)
{
    struct session *session = context;

    (void)memory;
    if (session_is_up(session))
        pump(self, session);
    else if (session->dial) /* there was no memory for the watch */
        look_at_dial(self, session);
    else if (!session->reconnects) /* there was none for the timer */
        reconnect_later(self, session);
}

/* --- the behaviour ---------------------------------------------------------------------------- */

/* For `open`: the result of one try. With `must_connect` the time-outs of its steps bound the wait;
 * otherwise it ends at `end`, and the try may go on. */
static bool wait_for_dial(struct session *session, uint64_t end)
{
    const struct amqp_settings *settings = session->link.settings;
    uint64_t now = link_now_ms();

    if (!settings->must_connect)
        return dial_wait(session->dial, now < end ? (int)(end - now) : 0);
    return dial_wait(session->dial, (int)settings->timeout) ||
           (!dial_is_opening(session->dial) && dial_wait(session->dial, -1));
}

/* Tries each server once. 0: there is a connection, or a try goes on. */
static int connect_first(struct weir_self *self, struct session *session)
{
    uint64_t end = link_now_ms() + session->link.settings->timeout;
    int status;

    do {
        status = dial(self, session) ? 0 : WEIR_EINVALID;
        if (status == 0 && wait_for_dial(session, end))
            status = take_dial(self, session);
        else if (status == 0 && session->link.settings->must_connect)
            status = give_up_dial(self, session);
        else if (status == 0)
            await_dial(self, session);
    } while (status != 0 && turn_to_next(session));
    return status;
}

int session_start(struct weir_self *self, struct session *session)
{
    const struct amqp_settings *settings = session->link.settings;
    int status = connect_first(self, session);

    if (status != 0 && (settings->must_connect || session->link.is_refused)) {
        weir_reason(self, "%s", session->link.error);
        weir_log(self, WEIR_LOG_ERROR, "not opened", weir_str("reason", session->link.error));
        return status;
    }
    if (session_is_up(session))
        come_up(self, session);
    else
        weir_progress_text(self, "server", "none");
    if (status != 0)
        reconnect_later(self, session);
    if (weir_every(self, settings->heartbeat / 3, on_beat, session, NULL) != 0)
        return WEIR_ENOMEM;
    pump(self, session);
    return 0;
}

void session_report(struct weir_self *self, const struct session *session, uint64_t queue_length)
{
    weir_progress(self, "connected", session_is_up(session) ? 1 : 0, WEIR_GAUGE);
    weir_progress(self, "lost_connections", session->link.losses, WEIR_GAUGE);
    weir_progress(self, "queue_length", queue_length, WEIR_GAUGE);
}

void session_inspect(const struct session *session, struct weir_inspection *out)
{
    const struct link *link = &session->link;
    char server[NAME_SIZE];

    link_name_server(link, server, sizeof server);
    weir_inspect_add(out, "server", "%s", server);
    weir_inspect_add(out, "connection", "%s",
                     !link->connection  ? "down"
                     : link->is_blocked ? "blocked"
                                        : "up");
    weir_inspect_add(out, "error", "%s", link->error);
    weir_inspect_add(out, "lost_connections", "%" PRIu64, link->losses);
}

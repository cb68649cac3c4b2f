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
    session->watch = 0;
    session->reconnects = session->is_leaving = false;
}

void session_finish(struct session *session)
{
    link_finish(&session->link);
}

bool session_is_up(const struct session *session)
{
    return session->link.connection != NULL;
}

/* --- connecting ------------------------------------------------------------------------------- */

static int connect_all(struct weir_self *self, struct session *session)
{
    char name[NAME_SIZE], server[NAME_SIZE];
    struct link_use use = { name, session->calls->begin, session->user };
    int status;

    (void)snprintf(name, sizeof name, "weir %.200s", weir_path(self));
    status = link_connect(&session->link, &use);
    if (status != 0)
        return status;
    session->up_since = weir_now_ms(self);
    link_name_server(&session->link, server, sizeof server);
    weir_progress_text(self, "server", server);
    weir_log(self, WEIR_LOG_INFO, "connected", weir_str("server", server),
             weir_str("queue", session->link.settings->queue));
    return 0;
}

static void reconnect(struct weir_self *self, void *memory, void *context);

static void reconnect_later(struct weir_self *self, struct session *session)
{
    uint64_t wait = link_backoff_ms(&session->link);

    if (session->is_leaving)
        return;
    weir_log(self, WEIR_LOG_ERROR, "no connection; trying again",
             weir_str("reason", session->link.error), weir_uint("in_ms", wait));
    session->reconnects = weir_after(self, wait, reconnect, session, NULL) == 0;
}

static void reconnect(struct weir_self *self, void *memory, void *context)
{
    struct session *session = context;

    (void)memory;
    session->reconnects = false;
    if (session->is_leaving)
        return;
    if (connect_all(self, session) != 0)
        reconnect_later(self, session);
    else
        pump(self, session);
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
    else if (!session->reconnects) /* there was no memory for the timer */
        reconnect_later(self, session);
}

/* --- the behaviour ---------------------------------------------------------------------------- */

int session_start(struct weir_self *self, struct session *session)
{
    const struct amqp_settings *settings = session->link.settings;
    int status = connect_all(self, session);

    if (status != 0 && (settings->must_connect || session->link.is_refused)) {
        weir_reason(self, "%s", session->link.error);
        weir_log(self, WEIR_LOG_ERROR, "not opened", weir_str("reason", session->link.error));
        return status;
    }
    if (status != 0) {
        weir_progress_text(self, "server", "none");
        reconnect_later(self, session);
    }
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

/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "hub_parts.h"

/* The hubs of this process, one for each file: two connections would wait for each other. */
struct hubs {
    pthread_mutex_t lock; /* taken before that of a hub */
    struct hub *first;
};

static struct hubs *of_process(void)
{
    static struct hubs hubs = { PTHREAD_MUTEX_INITIALIZER, NULL };

    return &hubs;
}

/* --- hubs ------------------------------------------------------------------------------------- */

static struct hub *find(const char *path)
{
    struct stat about;
    struct hub *hub = of_process()->first;

    if (lstat(path, &about) < 0)
        return NULL;
    while (hub && (hub->file.device != about.st_dev || hub->file.inode != about.st_ino))
        hub = hub->next;
    return hub;
}

/* With the lock of the hubs. */
static struct hub *ref(const char *path, char reason[PLACE_REASON_SIZE])
{
    struct hub *hub = find(path);

    if (!hub) {
        hub = hub_create(path, reason);
        if (!hub)
            return NULL;
        hub->next = of_process()->first;
        of_process()->first = hub;
    }
    hub->users++;
    return hub;
}

/* With the lock of the hubs, under which the last commit runs, too: the next hub finds the file
 * unlocked. */
static void unref(struct hub *hub)
{
    struct hub **at = &of_process()->first;

    if (--hub->users > 0)
        return;
    while (*at != hub)
        at = &(*at)->next;
    *at = hub->next;
    hub_destroy(hub);
}

/* --- joining and leaving ---------------------------------------------------------------------- */

static void destroy(struct client *client)
{
    piece_list_free(&client->waiting);
    piece_list_free(&client->ready);
    if (client->descriptor >= 0)
        (void)close(client->descriptor);
    free(client);
}

static struct client *create(const struct queue_settings *settings, bool is_take)
{
    struct client *client = calloc(1, sizeof *client);

    if (!client)
        return NULL;
    client->is_take = is_take;
    client->settings = *settings;
    client->descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (client->descriptor >= 0)
        return client;
    free(client);
    return NULL;
}

/* Locked. */
static int enter(struct hub *hub, struct client *client, const char *queue,
                 char reason[PLACE_REASON_SIZE])
{
    client->hub = hub;
    client->queue = hub_queue_locked(hub, queue);
    if (!client->queue) {
        (void)snprintf(reason, PLACE_REASON_SIZE, "memory is out");
        return WEIR_ENOMEM;
    }
    if (client->is_take && client->queue->taker) {
        (void)snprintf(reason, PLACE_REASON_SIZE, "a queue.take has it already: queue %s", queue);
        return WEIR_EEXISTS;
    }
    if (client->is_take)
        client->queue->taker = client;
    client->next = hub->clients;
    hub->clients = client;
    hub_wake_client(client); /* it looks at the figures */
    hub_wake_locked(hub);
    return 0;
}

static int join(const struct queue_settings *settings, bool is_take, struct client **out,
                char reason[PLACE_REASON_SIZE])
{
    struct client *client = create(settings, is_take);
    int status = WEIR_EINVALID;
    struct hub *hub;

    (void)snprintf(reason, PLACE_REASON_SIZE, "memory is out");
    if (!client)
        return WEIR_ENOMEM;
    (void)pthread_mutex_lock(&of_process()->lock);
    hub = ref(settings->file, reason);
    (void)pthread_mutex_unlock(&of_process()->lock);
    if (hub && hub_wait_open(hub, reason) == 0) {
        (void)pthread_mutex_lock(&hub->lock);
        status = enter(hub, client, settings->queue, reason);
        (void)pthread_mutex_unlock(&hub->lock);
    }
    if (hub && status != 0) {
        (void)pthread_mutex_lock(&of_process()->lock);
        unref(hub);
        (void)pthread_mutex_unlock(&of_process()->lock);
    }
    if (status != 0)
        destroy(client);
    else
        *out = client;
    return status;
}

int client_join(struct weir_self *self, const struct queue_settings *settings, bool is_take,
                struct client **out)
{
    char reason[PLACE_REASON_SIZE];
    int status = join(settings, is_take, out, reason);

    if (status == 0)
        return 0;
    weir_log(self, WEIR_LOG_ERROR, "file cannot be used", weir_str("file", settings->file),
             weir_str("reason", reason));
    weir_reason(self, "%s", reason);
    return status;
}

static void drop(struct piece_list *pieces, struct piece_list *out_doubtful)
{
    struct piece *piece;

    while ((piece = piece_list_take(pieces)) != NULL) {
        if (!piece->is_in_doubt || !out_doubtful) {
            piece_destroy(piece);
            continue;
        }
        piece->end = PIECE_DEAD;
        (void)snprintf(piece->detail, sizeof piece->detail, "may be stored: %.*s",
                       (int)(sizeof piece->detail - sizeof "may be stored: "), piece->name);
        piece_list_append(out_doubtful, piece);
    }
}

/* Locked. */
static void withdraw(struct client *client, struct piece_list *out_doubtful)
{
    drop(&client->waiting, out_doubtful);
    while (client->busy > 0) {
        (void)pthread_cond_wait(&client->hub->quiet, &client->hub->lock);
        drop(&client->waiting, out_doubtful); /* a commit that failed gives them back */
    }
}

/* Locked. */
static void stop(struct client *client)
{
    if (client->queue->taker != client)
        return;
    client->queue->taker = NULL;
    client->queue->forgets = true;
}

void client_leave(struct client *client)
{
    struct hub *hub = client->hub;
    struct client **at = &hub->clients;

    (void)pthread_mutex_lock(&hub->lock);
    withdraw(client, NULL);
    stop(client);
    while (*at != client)
        at = &(*at)->next;
    *at = client->next;
    hub_wake_locked(hub);
    (void)pthread_mutex_unlock(&hub->lock);
    destroy(client);
    (void)pthread_mutex_lock(&of_process()->lock);
    unref(hub);
    (void)pthread_mutex_unlock(&of_process()->lock);
}

void client_reconfigure(struct client *client, const struct queue_settings *settings)
{
    (void)pthread_mutex_lock(&client->hub->lock);
    client->settings = *settings;
    hub_wake_locked(client->hub);
    (void)pthread_mutex_unlock(&client->hub->lock);
}

int client_descriptor(const struct client *client)
{
    return client->descriptor;
}

void client_acknowledge(struct client *client)
{
    uint64_t count;

    (void)!read(client->descriptor, &count, sizeof count);
}

/* --- giving and getting ----------------------------------------------------------------------- */

static void move_all(struct piece_list *from, struct piece_list *to)
{
    struct piece *piece;

    while ((piece = piece_list_take(from)) != NULL)
        piece_list_append(to, piece);
}

void client_put(struct client *client, struct piece *piece)
{
    struct hub *hub = client->hub;

    piece->client = client;
    piece->queue = client->queue;
    (void)pthread_mutex_lock(&hub->lock);
    if (!piece->name[0])
        (void)snprintf(piece->name, sizeof piece->name, "%s:%" PRIu64, hub->run, ++hub->serial);
    piece_list_append(&client->waiting, piece);
    hub_wake_locked(hub);
    (void)pthread_mutex_unlock(&hub->lock);
}

void client_get_stored(struct client *client, struct piece_list *out)
{
    (void)pthread_mutex_lock(&client->hub->lock);
    move_all(&client->ready, out);
    (void)pthread_mutex_unlock(&client->hub->lock);
}

void client_withdraw(struct client *client, struct piece_list *out_doubtful)
{
    (void)pthread_mutex_lock(&client->hub->lock);
    withdraw(client, out_doubtful);
    (void)pthread_mutex_unlock(&client->hub->lock);
}

void client_get_taken(struct client *client, struct piece_list *out)
{
    struct hub *hub = client->hub;

    (void)pthread_mutex_lock(&hub->lock);
    if (client->ready.first)
        hub_wake_locked(hub); /* there is room for others */
    move_all(&client->ready, out);
    (void)pthread_mutex_unlock(&hub->lock);
}

void client_settle(struct client *client, struct piece *piece)
{
    struct hub *hub = client->hub;

    (void)pthread_mutex_lock(&hub->lock);
    client->out--;
    piece->is_lazy = client->settings.sync == QUEUE_SYNC_NORMAL;
    piece_list_append(&hub->settled, piece);
    hub_wake_locked(hub);
    (void)pthread_mutex_unlock(&hub->lock);
}

void client_stop(struct client *client)
{
    (void)pthread_mutex_lock(&client->hub->lock);
    client->is_stopped = true;
    client->out -= client->ready.count;
    piece_list_free(&client->ready);
    (void)pthread_mutex_unlock(&client->hub->lock);
}

void client_get_figures(struct client *client, struct client_figures *out)
{
    struct hub *hub = client->hub;

    (void)pthread_mutex_lock(&hub->lock);
    out->pieces = client->queue->shown.pieces;
    out->bytes = client->queue->shown.bytes;
    out->waiting = client->is_take ? client->ready.count : client->waiting.count + client->busy;
    out->has_trouble = hub->has_trouble;
    out->is_full = client->lack != LACKS_NOTHING;
    (void)snprintf(out->trouble, sizeof out->trouble, "%s", hub->trouble);
    (void)pthread_mutex_unlock(&hub->lock);
}

static bool is_first_of_hub(struct client *client)
{
    bool is_first;

    (void)pthread_mutex_lock(&client->hub->lock);
    is_first = client->hub->clients == client;
    (void)pthread_mutex_unlock(&client->hub->lock);
    return is_first;
}

void client_log_trouble(struct client *client, struct weir_self *self,
                        const struct client_figures *figures)
{
    bool is_first = is_first_of_hub(client);

    if (is_first && figures->has_trouble && !client->had_trouble)
        weir_log(self, WEIR_LOG_ERROR, "pieces cannot be stored; trying again",
                 weir_str("file", client->hub->path), weir_str("reason", figures->trouble));
    if (is_first && !figures->has_trouble && client->had_trouble)
        weir_log(self, WEIR_LOG_INFO, "pieces are stored again",
                 weir_str("file", client->hub->path));
    client->had_trouble = figures->has_trouble;
}

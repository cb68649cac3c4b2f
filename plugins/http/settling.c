/* SPDX-License-Identifier: MIT */
#include "settling.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "retry_after.h"

#define SECOND_MS 1000u
#define SHORTAGE_MS 250u /* before another try, when descriptors or memory are short */

/* --- verdicts --------------------------------------------------------------------------------- */

static void report(struct weir_self *self, const struct client *client)
{
    const struct client_figures *figures = &client->figures;

    weir_progress(self, "fetches", figures->done, 0);
    weir_progress(self, "retries", figures->retried, 0);
    weir_progress(self, "rejects", figures->rejected, 0);
    weir_progress(self, "bytes", figures->bytes, 0);
}

/* The reason and the delay are set already. */
static void settle(struct weir_self *self, struct fetch *fetch, int verdict)
{
    struct client *client = fetch->client;
    const struct weir_message *message = fetch->message;

    client->figures.done += verdict == WEIR_DONE;
    client->figures.retried += verdict == WEIR_RETRY;
    client->figures.rejected += verdict == WEIR_REJECT;
    fetch_destroy(fetch);
    report(self, client);
    (void)weir_settle(self, message, verdict);
}

/* A number below `bound`, which is not 0. */
static uint64_t draw(struct client *client, uint64_t bound)
{
    client->noise ^= client->noise << 13;
    client->noise ^= client->noise >> 7;
    client->noise ^= client->noise << 17;
    return client->noise % bound;
}

/* Twice as long with each attempt; between a half and the whole of that, so that many messages do
 * not come back together. */
static uint64_t backoff(struct client *client, uint16_t attempt)
{
    uint64_t delay = client->settings->backoff, max = client->settings->backoff_max;

    for (uint16_t i = 1; i < attempt && delay < max; i++)
        delay *= 2;
    if (delay > max)
        delay = max;
    return delay - draw(client, delay / 2 + 1);
}

static void retry(struct weir_self *self, struct fetch *fetch)
{
    struct client *client = fetch->client;
    uint64_t delay = backoff(client, fetch->message->attempt);
    uint64_t asked = retry_after_read(fetch->head.data, fetch->head.size, time(NULL));

    if (asked * SECOND_MS > client->settings->retry_after_max) {
        weir_reason(self, "Retry-After of %llu s", (unsigned long long)asked);
        settle(self, fetch, WEIR_REJECT);
        return;
    }
    if (asked * SECOND_MS > delay)
        delay = asked * SECOND_MS;
    if (fetch->fault == FETCH_CROWDED && client->settings->connect_timeout > delay)
        delay = client->settings->connect_timeout;
    weir_retry_after(self, delay);
    settle(self, fetch, WEIR_RETRY);
}

/* --- the output ------------------------------------------------------------------------------- */

static size_t write_line(char *line, size_t size, const struct fetch *fetch)
{
    long status = 0;

    (void)curl_easy_getinfo(fetch->easy, CURLINFO_RESPONSE_CODE, &status);
    return (size_t)snprintf(line, size, "%ld\n", status);
}

static void put(char **to, const char *data, size_t size)
{
    if (size > 0)
        memcpy(*to, data, size);
    *to += size;
}

/* Returns owned; NULL: memory is out. */
static struct weir_message *make_output(struct weir_self *self, const struct fetch *fetch)
{
    const struct client *client = fetch->client;
    bool is_whole = client->settings->pass == CLIENT_PASS_RESPONSE;
    char line[16];
    size_t line_size = is_whole ? write_line(line, sizeof line, fetch) : 0;
    size_t head_size = is_whole ? fetch->head.size : 0;
    struct weir_message *message = weir_message_new(
        self, is_whole ? client->response_tag : client->body_tag,
        line_size + head_size + is_whole + fetch->body.size);
    char *to = message ? message->data : NULL;

    if (!message)
        return NULL;
    message->key = fetch->message->key;
    put(&to, line, line_size);
    put(&to, fetch->head.data, head_size);
    put(&to, "\n", is_whole);
    put(&to, fetch->body.data, fetch->body.size);
    return message;
}

/* The origin of the message waits for the output, too. */
static int emit(struct weir_self *self, const struct fetch *fetch, struct weir_message *output)
{
    int status = weir_join(self, output, fetch->message);

    return status == 0 ? weir_emit(self, CLIENT_OUTPUT, output) : status;
}

/* 0 also when the request has ended. */
static int send_output(struct weir_self *self, const struct fetch *fetch)
{
    bool is_request = fetch->message->kind == WEIR_REQUEST;
    struct weir_message *output = make_output(self, fetch);
    int status;

    if (!output)
        return WEIR_ENOMEM;
    status = is_request ? weir_reply(self, fetch->message, output) : emit(self, fetch, output);
    if (status == 0)
        return 0;
    weir_message_free(self, output);
    return is_request && status != WEIR_ENOMEM ? 0 : status;
}

/* The answer is here, and is not fetched again because the output has no room. */
void settling_send(struct weir_self *self, struct fetch *fetch)
{
    int status = send_output(self, fetch);

    fetch->phase = FETCH_LEAVING;
    if (status == WEIR_EFULL || status == WEIR_ENOMEM)
        return;
    if (status != 0)
        weir_reason(self, "output: %s", weir_status_text(status));
    settle(self, fetch, status == 0 ? WEIR_DONE : WEIR_REJECT);
}

/* --- ends ------------------------------------------------------------------------------------- */

static void answered(struct weir_self *self, struct fetch *fetch)
{
    struct client *client = fetch->client;
    long status = 0;

    (void)curl_easy_getinfo(fetch->easy, CURLINFO_RESPONSE_CODE, &status);
    client->figures.classes[status >= 100 && status < STATUS_MAX ? status / 100 : 0]++;
    if (statuses_have(&client->done, status)) {
        settling_send(self, fetch);
        return;
    }
    weir_reason(self, "status %ld", status);
    if (statuses_have(&client->retry, status))
        retry(self, fetch);
    else
        settle(self, fetch, WEIR_REJECT);
}

/* Another attempt would end in the same way. */
static bool is_final(const struct fetch *fetch, CURLcode code)
{
    return fetch->fault == FETCH_REFUSED || code == CURLE_URL_MALFORMAT ||
           code == CURLE_TOO_MANY_REDIRECTS ||
           (code == CURLE_UNSUPPORTED_PROTOCOL && fetch->sent == 0);
}

/* An errno when the host lacks descriptors or memory; 0: it does not. A look-up of a name, and the
 * files of authorities, need descriptors, too, and their errors do not say why they failed. A POST
 * that was sent is not tried again as the same attempt. */
static int shortage_of(const struct fetch *fetch, CURLcode code)
{
    int probe;

    if (fetch->has_acted)
        return 0;
    if (fetch->fault == FETCH_SHORT)
        return fetch->shortage;
    if (code == CURLE_OUT_OF_MEMORY && fetch->sent == 0)
        return ENOMEM;
    if (fetch->fault != FETCH_FAULTLESS || code == CURLE_OUT_OF_MEMORY)
        return 0;
    probe = fcntl(fetch->client->engine.poller, F_DUPFD_CLOEXEC, 0);
    if (probe < 0)
        return weir_is_short(errno) ? errno : 0;
    (void)close(probe);
    return 0;
}

/* Some errors of libcurl stand for what the server sent: a line of more than 100 KiB, a first
 * header that begins with a blank, and no status line. */
static const char *reason_of(const struct fetch *fetch, CURLcode code)
{
    if (fetch->cause)
        return fetch->cause;
    if (code == CURLE_OUT_OF_MEMORY && fetch->fault != FETCH_SHORT)
        return "too long a line in the headers";
    if (code == CURLE_BAD_FUNCTION_ARGUMENT && fetch->sent > 0)
        return "a line in the headers that is none";
    if (code == CURLE_UNSUPPORTED_PROTOCOL && fetch->sent > 0)
        return "the server does not speak HTTP";
    return curl_easy_strerror(code);
}

static void postpone(struct weir_self *self, struct fetch *fetch, int error)
{
    char text[128];

    weir_reason(self, "%s", strerror_r(error, text, sizeof text));
    weir_retry_after(self, SHORTAGE_MS);
    settle(self, fetch, WEIR_POSTPONE);
}

void settling_end(struct weir_self *self, struct fetch *fetch, CURLcode code)
{
    int shortage = code == CURLE_OK ? 0 : shortage_of(fetch, code);
    const struct client *client = fetch->client;
    bool is_late = code == CURLE_OPERATION_TIMEDOUT || fetch->fault == FETCH_CROWDED;
    bool again = is_late ? client->retry.has_timeout : client->retry.has_error;

    if (code == CURLE_OK) {
        answered(self, fetch);
        return;
    }
    if (shortage) {
        postpone(self, fetch, shortage);
        return;
    }
    fetch->client->figures.classes[0]++;
    weir_reason(self, "%s", reason_of(fetch, code));
    if (again && !is_final(fetch, code))
        retry(self, fetch);
    else
        settle(self, fetch, WEIR_REJECT);
}

void settling_give_up(struct weir_self *self, struct fetch *fetch)
{
    weir_reason(self, "the answer is not wanted any more");
    settle(self, fetch, WEIR_REJECT);
}

/* SPDX-License-Identifier: MIT */
#include "host/isolation/channel.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

#include <weir/status.h>

#define MORE 0x80000000u /* of a kind: the frame goes on in the next record */
#define NS_PER_MS 1000000u
#define CRY 'M'

int channel_begin(struct channel *channel, struct segment *segment, bool is_host, int bell)
{
    *channel = (struct channel){ .bell = -1, .life = -1 };
    channel->piece = malloc(SEGMENT_PIECE);
    if (!channel->piece)
        return WEIR_ENOMEM;
    segment_begin(&channel->end, segment, is_host);
    channel->bell = bell;
    return WEIR_OK;
}

void channel_finish(struct channel *channel)
{
    if (!channel->piece)
        return;
    segment_unmap(channel->end.segment);
    (void)close(channel->bell);
    parcel_finish(&channel->in);
    free(channel->piece);
    *channel = (struct channel){ .bell = -1, .life = -1 };
}

/* A bell that is full rings already. A byte that finds no memory is sent again: both sides would
 * sleep for ever without it. */
static void send_byte(int bell, const char *byte)
{
    while (send(bell, byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 &&
           (errno == ENOBUFS || errno == ENOMEM || errno == EINTR))
        (void)poll(NULL, 0, 1); /* memory comes with time, and not with a spin */
}

static uint64_t now_ns(void)
{
    struct clock clock = clock_monotonic();

    return clock_now_ns(&clock);
}

static void ring_if(const struct channel *channel, bool must)
{
    if (must)
        send_byte(channel->bell, "");
}

/* For what was put. */
static void ring(struct channel *channel)
{
    channel->unrung_ns = 0;
    ring_if(channel, segment_must_ring(&channel->end, false));
}

/* False: the other end is closed. */
static bool silence(struct channel *channel)
{
    char rung[64];
    ssize_t got = recv(channel->bell, rung, sizeof rung, MSG_DONTWAIT);

    if (got > 0 && memchr(rung, CRY, (size_t)got))
        channel->lacks_memory = true;
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

/* Until it is time to look, or too late. */
static int milliseconds_left(const struct channel *channel)
{
    uint64_t until = channel->look ? channel->look_ns : UINT64_MAX, now, left_ms;

    if (channel->due_ns && channel->due_ns < until)
        until = channel->due_ns;
    if (until == UINT64_MAX)
        return -1;
    now = now_ns();
    left_ms = until > now ? (until - now + NS_PER_MS - 1) / NS_PER_MS : 0;
    return left_ms < INT32_MAX ? (int)left_ms : INT32_MAX;
}

void channel_cry(int bell)
{
    send_byte(bell, (const char[]){ CRY });
}

void channel_hear(struct channel *channel)
{
    (void)silence(channel);
}

int channel_check(struct channel *channel)
{
    uint64_t now;

    if (!channel->look && !channel->due_ns)
        return WEIR_OK;
    now = now_ns();
    if (channel->due_ns && now >= channel->due_ns)
        return WEIR_ETIMEOUT;
    if (!channel->look || now < channel->look_ns)
        return WEIR_OK;
    return channel->look(channel->context);
}

/* Sleeps until the bell rings, or until it is time to look. Each round checks: the other process
 * may ring all the time. */
static int await(struct channel *channel, bool room)
{
    struct pollfd waited_for[] = { { .fd = channel->bell, .events = POLLIN },
                                   { .fd = channel->life, .events = POLLIN } };
    int ready, status = channel_check(channel);

    if (status != WEIR_OK)
        return status;
    if (channel->unrung_ns)
        ring(channel);
    if (!segment_may_sleep(&channel->end, room))
        return WEIR_OK;
    ready = poll(waited_for, 2, milliseconds_left(channel));
    if (ready == 0)
        return WEIR_OK;
    if (ready < 0)
        return errno == EINTR ? WEIR_OK : WEIR_ENOMEM;
    if (waited_for[0].revents && !silence(channel))
        return WEIR_ETERMINATED;
    return waited_for[1].revents ? WEIR_ETERMINATED : WEIR_OK;
}

static int put(struct channel *channel, uint32_t kind, uint64_t number, const char *bytes,
               uint32_t size)
{
    int status, waited;

    while ((status = segment_put(&channel->end, kind, number, bytes, size)) == WEIR_EFULL) {
        ring(channel);
        waited = await(channel, true);
        if (waited != WEIR_OK)
            return waited;
    }
    return status;
}

static int put_all(struct channel *channel, uint32_t kind, uint64_t number,
                   const struct parcel *content)
{
    size_t sent = 0, size = content ? content->size : 0;
    int status;

    if (content && content->failed)
        return WEIR_ENOMEM;
    do {
        size_t rest = size - sent;
        uint32_t part = rest > SEGMENT_PIECE ? SEGMENT_PIECE : (uint32_t)rest;
        bool more = part < rest;

        status = put(channel, more ? kind | MORE : kind, number,
                     content ? content->bytes + sent : NULL, part);
        sent += part;
    } while (status == WEIR_OK && sent < size);
    return status;
}

int channel_send(struct channel *channel, uint32_t kind, uint64_t number,
                 const struct parcel *content)
{
    int status = put_all(channel, kind, number, content);

    ring(channel);
    return status;
}

int channel_try_send(struct channel *channel, uint32_t kind, uint64_t number,
                     const struct parcel *content)
{
    int status;

    if (content->failed)
        return WEIR_ENOMEM;
    if (content->size > SEGMENT_PIECE)
        return WEIR_EFULL;
    status = segment_put(&channel->end, kind, number, content->bytes, (uint32_t)content->size);
    ring(channel);
    return status;
}

int channel_post(struct channel *channel, uint32_t kind, uint64_t number,
                 const struct parcel *content, uint64_t time_ns)
{
    int status = put_all(channel, kind, number, content);

    if (channel->unrung_ns && time_ns - channel->unrung_ns >= CHANNEL_UNRUNG_NS)
        ring(channel);
    else if (!channel->unrung_ns)
        channel->unrung_ns = time_ns;
    return status;
}

/* The next record. What the other process wrote before its end counts. */
static int next_record(struct channel *channel, struct segment_record *record)
{
    int got, waited = WEIR_OK;

    while ((got = segment_get(&channel->end, record, channel->piece)) == 0) {
        if (waited != WEIR_OK)
            return waited;
        waited = await(channel, false);
    }
    if (got > 0) /* the other side may wait for room */
        ring_if(channel, segment_must_ring(&channel->end, true));
    return got > 0 ? WEIR_OK : got;
}

int channel_receive(struct channel *channel, struct channel_frame *out)
{
    struct segment_record record;
    bool first = true, more = true;

    parcel_clear(&channel->in);
    while (more) {
        int status = next_record(channel, &record);

        if (status != WEIR_OK)
            return status;
        more = record.kind & MORE;
        record.kind &= ~MORE;
        if ((!first && (record.kind != out->kind || record.number != out->number)) ||
            record.bytes > CHANNEL_FRAME_MAX - channel->in.size || (more && !record.bytes))
            return WEIR_EINVALID;
        out->kind = record.kind;
        out->number = record.number;
        first = false;
        if (!parcel_append(&channel->in, channel->piece, record.bytes))
            return WEIR_ENOMEM;
    }
    out->content = unparcel_of(channel->in.bytes, channel->in.size);
    return WEIR_OK;
}

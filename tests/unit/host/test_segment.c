/* SPDX-License-Identifier: MIT */
/*
 * Goal: the memory that the host shares with the process of an isolated worker carries frames of
 * any size, in order and whole, and is sealed. Nonsense in it is refused: what is read lies inside
 * the ring. Shows promise B95.
 *
 * Method: both sides in one process, the process's side on a thread of its own for frames larger
 * than the ring; then each word of a header and of the positions is rewritten.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weir/status.h>

#include "host/isolation/channel.h"
#include "suite.h"

static char piece[SEGMENT_PIECE];

struct pair {
    struct segment *segment;
    struct segment_end host;
    struct segment_end process;
};

static void set_up(struct pair *pair)
{
    int descriptor = segment_create(&pair->segment);

    CU_ASSERT_FATAL(descriptor >= 0);
    segment_begin(&pair->host, pair->segment, true);
    segment_begin(&pair->process, pair->segment, false);
    close(descriptor);
}

static void test_records_come_in_order_around_the_end(void)
{
    struct pair pair;
    struct segment_record record;
    char bytes[1000];

    set_up(&pair);
    for (uint64_t i = 0; i < 5000; i++) {
        uint32_t size = (uint32_t)(i * 37 % sizeof bytes);

        memset(bytes, (int)i, size);
        CU_ASSERT_EQUAL(segment_put(&pair.host, 7, i, bytes, size), WEIR_OK);
        CU_ASSERT_EQUAL_FATAL(segment_get(&pair.process, &record, piece), 1);
        CU_ASSERT_EQUAL(record.kind, 7);
        CU_ASSERT_EQUAL(record.number, i);
        CU_ASSERT_EQUAL_FATAL(record.bytes, size);
        CU_ASSERT_EQUAL(memcmp(piece, bytes, size), 0);
    }
    CU_ASSERT_EQUAL(segment_get(&pair.process, &record, piece), 0);
    segment_unmap(pair.segment);
}

static void test_a_full_ring_refuses_until_it_is_read(void)
{
    struct pair pair;
    struct segment_record record;
    uint64_t put = 0;
    int status;

    set_up(&pair);
    while ((status = segment_put(&pair.host, 1, put, piece, SEGMENT_PIECE)) == WEIR_OK)
        put++;
    CU_ASSERT_EQUAL(status, WEIR_EFULL);
    CU_ASSERT_TRUE(put > 2);
    CU_ASSERT_EQUAL(segment_get(&pair.process, &record, piece), 1);
    CU_ASSERT_EQUAL(segment_put(&pair.host, 1, put, piece, SEGMENT_PIECE), WEIR_OK);
    segment_unmap(pair.segment);
}

static void test_the_memory_is_sealed(void)
{
    struct segment *segment;
    int descriptor = segment_create(&segment);

    CU_ASSERT_NOT_EQUAL(ftruncate(descriptor, 0), 0);
    CU_ASSERT_NOT_EQUAL(ftruncate(descriptor, (off_t)segment_size() * 2), 0);
    CU_ASSERT_NOT_EQUAL(fcntl(descriptor, F_ADD_SEALS, F_SEAL_WRITE), 0);
    close(descriptor);
    segment_unmap(segment);
}

/* One word of the memory after one record has been put. */
static void test_each_word_may_be_nonsense(void)
{
    static const uint32_t values[] = {
        0, 1, 16, 17, 48, 64, SEGMENT_RING, UINT32_MAX, UINT32_MAX - 15, 1u << 30
    };
    struct segment_record record;
    size_t refused = 0;

    for (size_t at = 0; at < 640; at += 4) {
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
            struct pair pair;
            int got;

            set_up(&pair);
            (void)segment_put(&pair.process, 3, 1, "abc", 3);
            memcpy((char *)pair.segment + at, &values[v], 4);
            for (int i = 0; i < 100 && (got = segment_get(&pair.host, &record, piece)) == 1; i++)
                CU_ASSERT_TRUE(record.bytes <= SEGMENT_PIECE);
            refused += got < 0;
            (void)segment_put(&pair.host, 1, 1, "abc", 3);
            segment_unmap(pair.segment);
        }
    }
    CU_ASSERT_TRUE(refused > 0);
}

/* The bytes of the ring up begin behind those of the ring down. */
static char *ring_up(const struct pair *pair)
{
    return (char *)pair->segment + segment_size() - SEGMENT_RING;
}

static void test_a_header_may_be_nonsense(void)
{
    static const uint32_t sizes[] = { 0, 1, 8, 15, 24, 31, 64, 4096, SEGMENT_RING, UINT32_MAX };
    struct segment_record record;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct pair pair;

        set_up(&pair);
        (void)segment_put(&pair.process, 3, 1, "abc", 3);
        memcpy(ring_up(&pair), &sizes[i], 4);
        CU_ASSERT_EQUAL(segment_get(&pair.host, &record, piece), WEIR_EINVALID);
        segment_unmap(pair.segment);
        set_up(&pair);
        (void)segment_put(&pair.process, 3, 1, "abc", 3);
        memcpy(ring_up(&pair) + offsetof(struct segment_record, bytes),
               &(uint32_t){ 17 + sizes[i] }, 4);
        CU_ASSERT_EQUAL(segment_get(&pair.host, &record, piece),
                        17 + sizes[i] <= 16 ? 1 : WEIR_EINVALID);
        segment_unmap(pair.segment);
    }
}

/* --- frames ----------------------------------------------------------------------------------- */

#define LARGE ((size_t)5 << 20) /* five times the ring */

/* Sends back what it gets, until the other side closes. */
static void *echo(void *context)
{
    struct channel *channel = context;
    struct channel_frame frame;

    while (channel_receive(channel, &frame) == WEIR_OK) {
        struct parcel parcel = { 0 };

        (void)parcel_append(&parcel, frame.content.at,
                            (size_t)(frame.content.end - frame.content.at));
        (void)channel_send(channel, frame.kind, frame.number, &parcel);
        parcel_finish(&parcel);
    }
    return NULL;
}

static void test_frames_of_any_size_come_back(void)
{
    static const size_t sizes[] = { 0, 1, 15, 16, SEGMENT_PIECE, SEGMENT_PIECE + 1, LARGE };
    struct channel host, process;
    struct channel_frame frame;
    struct segment *segment;
    pthread_t thread;
    int bells[2], descriptor = segment_create(&segment);

    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, bells), 0);
    CU_ASSERT_EQUAL_FATAL(channel_begin(&host, segment, true, bells[0]), WEIR_OK);
    CU_ASSERT_EQUAL_FATAL(channel_begin(&process, segment_map(descriptor), false, bells[1]),
                          WEIR_OK);
    close(descriptor);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, echo, &process), 0);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct parcel parcel = { 0 };
        char *bytes = malloc(sizes[i] + 1);

        for (size_t b = 0; b < sizes[i]; b++)
            bytes[b] = (char)(b * 31 >> 3);
        (void)parcel_append(&parcel, bytes, sizes[i]);
        CU_ASSERT_EQUAL(channel_send(&host, 9, i, &parcel), WEIR_OK);
        CU_ASSERT_EQUAL_FATAL(channel_receive(&host, &frame), WEIR_OK);
        CU_ASSERT_EQUAL(frame.number, i);
        CU_ASSERT_EQUAL_FATAL((size_t)(frame.content.end - frame.content.at), sizes[i]);
        CU_ASSERT_EQUAL(memcmp(frame.content.at, bytes, sizes[i]), 0);
        parcel_finish(&parcel);
        free(bytes);
    }
    channel_finish(&host);
    (void)pthread_join(thread, NULL);
    channel_finish(&process);
}

static void test_a_peer_that_has_gone_ends_the_wait(void)
{
    struct channel host;
    struct channel_frame frame;
    struct segment *segment;
    int bells[2], descriptor = segment_create(&segment);

    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, bells), 0);
    CU_ASSERT_EQUAL_FATAL(channel_begin(&host, segment, true, bells[0]), WEIR_OK);
    close(descriptor);
    host.due_ns = 1; /* long ago */
    CU_ASSERT_EQUAL(channel_receive(&host, &frame), WEIR_ETIMEOUT);
    host.due_ns = 0;
    close(bells[1]);
    CU_ASSERT_EQUAL(channel_receive(&host, &frame), WEIR_ETERMINATED);
    channel_finish(&host);
}

/* --- parcels ---------------------------------------------------------------------------------- */

static void test_a_cut_parcel_is_wrong_everywhere(void)
{
    struct parcel parcel = { 0 };

    parcel_number(&parcel, 7);
    parcel_text(&parcel, "text");
    parcel_bytes(&parcel, "\0\1", 2);
    for (size_t size = 0; size <= parcel.size; size++) {
        char *cut = malloc(size + 1);
        struct unparcel from;
        size_t count;

        memcpy(cut, parcel.bytes, size);
        from = unparcel_of(cut, size);
        (void)unparcel_number(&from);
        (void)unparcel_text(&from);
        (void)unparcel_bytes(&from, &count);
        CU_ASSERT_EQUAL(from.wrong, size < parcel.size);
        free(cut);
    }
    parcel_finish(&parcel);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "records come in order around the end", test_records_come_in_order_around_the_end },
        { "a full ring refuses until it is read", test_a_full_ring_refuses_until_it_is_read },
        { "the memory is sealed", test_the_memory_is_sealed },
        { "each word may be nonsense", test_each_word_may_be_nonsense },
        { "a header may be nonsense", test_a_header_may_be_nonsense },
        { "frames of any size come back", test_frames_of_any_size_come_back },
        { "a peer that has gone ends the wait", test_a_peer_that_has_gone_ends_the_wait },
        { "a cut parcel is wrong everywhere", test_a_cut_parcel_is_wrong_everywhere },
        CU_TEST_INFO_NULL,
    };

    return suite_run("host/segment", tests);
}

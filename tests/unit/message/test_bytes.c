/* SPDX-License-Identifier: MIT */
/*
 * Goal: the payload that waits in a mailbox never exceeds its limit of bytes, with any number of
 * senders; a message that leaves gives its bytes back; one that can never fit gets its own status.
 *
 * Method: one thread plays sender and owner at every edge; then several threads send sizes of all
 * kinds to one owner, while another one watches.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "message/cache.h"
#include "message/mailbox.h"
#include "unit/host/suite.h"

#define SERIAL 7u
#define SENDERS 4u
#define EACH 4000u
#define LIMIT 1000u

struct box {
    struct mailbox mailbox;
    struct cache cache;
};

static void begin(struct box *box, uint32_t limit, uint64_t bytes)
{
    cache_init(&box->cache);
    mailbox_init(&box->mailbox, SERIAL, limit);
    mailbox_set_bytes_limit(&box->mailbox, bytes);
    mailbox_open(&box->mailbox);
}

static uint64_t bytes_of(struct box *box)
{
    return atomic_load(&box->mailbox.bytes);
}

/* Pushes a message of `size` bytes, and frees it when it is refused. */
static int push(struct box *box, size_t size)
{
    struct message *message = message_create(&box->cache, NULL, size);
    bool wake;
    int status = mailbox_push(&box->mailbox, SERIAL, message, &wake);

    if (status != 0) {
        CU_ASSERT_EQUAL(message->public.reserved & MESSAGE_WEIGHED, 0);
        message_destroy(&box->cache, message);
    }
    return status;
}

static void pop(struct box *box)
{
    struct message *message = mailbox_pop(&box->mailbox);

    CU_ASSERT_PTR_NOT_NULL_FATAL(message);
    CU_ASSERT_EQUAL(message->public.reserved & MESSAGE_WEIGHED, 0);
    message_destroy(&box->cache, message);
}

static void finish(struct box *box)
{
    struct message *message;

    while ((message = mailbox_pop(&box->mailbox)))
        message_destroy(&box->cache, message);
    CU_ASSERT_EQUAL(bytes_of(box), 0);
    cache_finish(&box->cache);
}

/* promise S11 */
static void test_limit_is_exact_to_the_byte(void)
{
    struct box box;

    begin(&box, 0, 100);
    CU_ASSERT_EQUAL(push(&box, 60), 0);
    CU_ASSERT_EQUAL(push(&box, 41), WEIR_EFULL);
    CU_ASSERT_EQUAL(push(&box, 40), 0);
    CU_ASSERT_TRUE(mailbox_bytes_full(&box.mailbox));
    CU_ASSERT_EQUAL(push(&box, 1), WEIR_EFULL);
    CU_ASSERT_EQUAL(push(&box, 0), 0);
    pop(&box);
    CU_ASSERT_FALSE(mailbox_bytes_full(&box.mailbox));
    CU_ASSERT_EQUAL(push(&box, 60), 0);
    CU_ASSERT_EQUAL(mailbox_waiting(&box.mailbox), 3);
    finish(&box);
}

/* promise S11 */
static void test_larger_than_the_limit_is_invalid_not_full(void)
{
    struct box box;

    begin(&box, 0, 100);
    CU_ASSERT_EQUAL(push(&box, 101), WEIR_EINVALID);
    CU_ASSERT_EQUAL(push(&box, 100), 0);
    CU_ASSERT_EQUAL(push(&box, 101), WEIR_EINVALID);
    finish(&box);
}

static void test_refused_for_another_reason_gives_its_bytes_back(void)
{
    struct box box;

    begin(&box, 2, 100);
    CU_ASSERT_EQUAL(push(&box, 10), 0);
    CU_ASSERT_EQUAL(push(&box, 10), 0);
    CU_ASSERT_EQUAL(push(&box, 10), WEIR_EFULL);
    CU_ASSERT_EQUAL(bytes_of(&box), 20);
    mailbox_close(&box.mailbox);
    CU_ASSERT_EQUAL(push(&box, 10), WEIR_ECLOSED);
    CU_ASSERT_EQUAL(bytes_of(&box), 20);
    pop(&box);
    pop(&box);
    mailbox_end(&box.mailbox);
    CU_ASSERT_EQUAL(push(&box, 10), WEIR_ETERMINATED);
    finish(&box);
}

static void test_limit_that_comes_and_goes_weighs_each_message_once(void)
{
    struct box box;

    begin(&box, 0, 0);
    CU_ASSERT_EQUAL(push(&box, 500), 0);
    CU_ASSERT_EQUAL(bytes_of(&box), 0);
    mailbox_set_bytes_limit(&box.mailbox, 100);
    CU_ASSERT_EQUAL(push(&box, 80), 0);
    mailbox_set_bytes_limit(&box.mailbox, 50);
    CU_ASSERT_EQUAL(push(&box, 10), WEIR_EFULL);
    mailbox_set_bytes_limit(&box.mailbox, 0);
    CU_ASSERT_EQUAL(push(&box, 700), 0);
    pop(&box);
    CU_ASSERT_EQUAL(bytes_of(&box), 80);
    pop(&box);
    CU_ASSERT_EQUAL(bytes_of(&box), 0);
    pop(&box);
    finish(&box);
}

/* promise S11 */
static void test_chain_is_cut_where_the_bytes_end(void)
{
    struct message *messages[4];
    struct box box;
    bool wake;

    begin(&box, 0, 100);
    for (size_t i = 0; i < 4; i++)
        messages[i] = message_create(&box.cache, NULL, 40);
    CU_ASSERT_EQUAL(mailbox_push_chain(&box.mailbox, SERIAL, messages, 4, &wake), 2);
    CU_ASSERT_EQUAL(bytes_of(&box), 80);
    CU_ASSERT_EQUAL(mailbox_push_chain(&box.mailbox, SERIAL, messages + 2, 2, &wake), WEIR_EFULL);
    CU_ASSERT_EQUAL(bytes_of(&box), 80);
    mailbox_set_limit(&box.mailbox, 2);
    mailbox_set_bytes_limit(&box.mailbox, 1000);
    CU_ASSERT_EQUAL(mailbox_push_chain(&box.mailbox, SERIAL, messages + 2, 2, &wake), WEIR_EFULL);
    CU_ASSERT_EQUAL(bytes_of(&box), 80);
    mailbox_set_bytes_limit(&box.mailbox, 39);
    CU_ASSERT_EQUAL(mailbox_push_chain(&box.mailbox, SERIAL, messages + 2, 2, &wake),
                    WEIR_EINVALID);
    for (size_t i = 2; i < 4; i++)
        message_destroy(&box.cache, messages[i]);
    finish(&box);
}

struct sender {
    struct box *box;
    struct cache cache;
    pthread_t thread;
    uint32_t number;
};

static void *send_all(void *context)
{
    struct sender *sender = context;

    for (uint32_t i = 0; i < EACH; i++) {
        size_t size = (i * 7 + sender->number * 131) % (LIMIT / 2);
        struct message *message = message_create(&sender->cache, NULL, size);
        bool wake;

        while (mailbox_push(&sender->box->mailbox, SERIAL, message, &wake) != 0)
            (void)sched_yield();
    }
    return NULL;
}

struct watcher {
    struct box *box;
    _Atomic bool done;
    uint64_t most;
};

static void *watch(void *context)
{
    struct watcher *watcher = context;

    while (!atomic_load(&watcher->done)) {
        uint64_t bytes = bytes_of(watcher->box);

        if (bytes > watcher->most)
            watcher->most = bytes;
        (void)sched_yield();
    }
    return NULL;
}

/* promise S11 */
static void test_many_senders_never_pass_the_limit_and_lose_nothing(void)
{
    struct sender senders[SENDERS];
    struct box box;
    struct watcher watcher = { .box = &box };
    pthread_t thread;
    uint32_t got = 0;

    begin(&box, 16, LIMIT);
    CU_ASSERT_EQUAL(pthread_create(&thread, NULL, watch, &watcher), 0);
    for (uint32_t i = 0; i < SENDERS; i++) {
        senders[i] = (struct sender){ .box = &box, .number = i };
        cache_init(&senders[i].cache);
        CU_ASSERT_EQUAL(pthread_create(&senders[i].thread, NULL, send_all, &senders[i]), 0);
    }
    while (got < SENDERS * EACH) {
        struct message *message = mailbox_pop(&box.mailbox);

        if (!message) {
            (void)sched_yield();
            continue;
        }
        message_destroy(&box.cache, message);
        got++;
    }
    for (uint32_t i = 0; i < SENDERS; i++)
        pthread_join(senders[i].thread, NULL);
    atomic_store(&watcher.done, true);
    pthread_join(thread, NULL);
    CU_ASSERT_TRUE(watcher.most <= LIMIT);
    finish(&box);
    for (uint32_t i = 0; i < SENDERS; i++)
        cache_finish(&senders[i].cache);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "exact", test_limit_is_exact_to_the_byte },
        { "too large", test_larger_than_the_limit_is_invalid_not_full },
        { "given back", test_refused_for_another_reason_gives_its_bytes_back },
        { "comes and goes", test_limit_that_comes_and_goes_weighs_each_message_once },
        { "chain", test_chain_is_cut_where_the_bytes_end },
        { "many senders", test_many_senders_never_pass_the_limit_and_lose_nothing },
        CU_TEST_INFO_NULL,
    };

    return suite_run("bytes", tests);
}

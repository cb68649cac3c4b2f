/*
 * Goal: who sends to a mailbox that is held for a broadcast waits for its decision, and is told
 * neither that it is closed nor that it is full for a place that is given back.
 *
 * Method: the test holds the mailbox while another thread sends, gives that thread every chance to
 * be answered, and only then decides.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "message/cache.h"
#include "message/mailbox.h"
#include "unit/host/suite.h"

#define SERIAL 7u
#define CHANCES 2000 /* for the sender to be answered too early */

struct sender {
    struct mailbox *mailbox;
    struct message *message;
    pthread_t thread;
    int status;            /* of the push; read when it has answered */
    _Atomic bool begun;    /* set by the sender */
    _Atomic bool answered; /* set by the sender */
};

static void *push(void *argument)
{
    struct sender *sender = argument;
    bool wake;

    atomic_store(&sender->begun, true);
    sender->status = mailbox_push(sender->mailbox, SERIAL, sender->message, &wake);
    atomic_store(&sender->answered, true);
    return NULL;
}

static void send_beside(struct sender *sender)
{
    CU_ASSERT_EQUAL_FATAL(pthread_create(&sender->thread, NULL, push, sender), 0);
    while (!atomic_load(&sender->begun))
        (void)sched_yield();
    for (int i = 0; i < CHANCES && !atomic_load(&sender->answered); i++)
        (void)sched_yield();
}

struct fixture {
    struct cache cache;
    struct mailbox mailbox;
    struct sender sender;
};

static void begin(struct fixture *f, uint32_t limit)
{
    *f = (struct fixture){ .sender = { .mailbox = &f->mailbox } };
    cache_init(&f->cache);
    mailbox_init(&f->mailbox, SERIAL, limit);
    mailbox_open(&f->mailbox);
    f->sender.message = message_create(&f->cache, NULL, 0);
    CU_ASSERT_EQUAL_FATAL(mailbox_hold(&f->mailbox, SERIAL, 0), 0);
    send_beside(&f->sender);
    CU_ASSERT_FALSE(atomic_load(&f->sender.answered));
}

static void expect_answer(struct fixture *f, int status, uint32_t waiting)
{
    struct message *message;

    pthread_join(f->sender.thread, NULL);
    CU_ASSERT_EQUAL(f->sender.status, status);
    CU_ASSERT_EQUAL(mailbox_waiting(&f->mailbox), waiting);
    if (status != 0)
        message_destroy(&f->cache, f->sender.message);
    while ((message = mailbox_pop(&f->mailbox)))
        message_destroy(&f->cache, message);
    cache_finish(&f->cache);
}

/* promise P14 */
static void test_sender_beside_a_hold_that_is_given_up_gets_the_place(void)
{
    struct fixture f;

    begin(&f, 1);
    mailbox_release(&f.mailbox, 0);
    expect_answer(&f, 0, 1);
}

/* promise P14 */
static void test_sender_beside_a_broadcast_that_takes_the_place_is_told_full(void)
{
    struct fixture f;

    begin(&f, 1);
    (void)mailbox_push_held(&f.mailbox, message_create(&f.cache, NULL, 0));
    expect_answer(&f, WEIR_EFULL, 1);
}

/* promise P14 */
static void test_sender_beside_a_broadcast_gets_the_next_place(void)
{
    struct fixture f;

    begin(&f, 2);
    (void)mailbox_push_held(&f.mailbox, message_create(&f.cache, NULL, 0));
    expect_answer(&f, 0, 2);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "given up", test_sender_beside_a_hold_that_is_given_up_gets_the_place },
        { "taken", test_sender_beside_a_broadcast_that_takes_the_place_is_told_full },
        { "next", test_sender_beside_a_broadcast_gets_the_next_place },
        CU_TEST_INFO_NULL,
    };

    return suite_run("hold", tests);
}

/* SPDX-License-Identifier: MIT */
/* An event loop that asks workers and never waits for one: an answer wakes it by a descriptor. */
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <weir/runtime.h>

#define QUESTIONS 1000u
#define OPEN_MAX 64u /* as many as may wait in the pool */

static int square(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct weir_message *reply = weir_message_new(self, NULL, sizeof(uint64_t));
    const uint64_t *number = message->data;

    (void)state;
    if (!reply)
        return WEIR_POSTPONE;
    if (*number % 100 == 0) {
        weir_message_free(self, reply);
        return WEIR_REJECT; /* the loop hears of it, too */
    }
    *(uint64_t *)reply->data = *number * *number;
    if (weir_reply(self, message, reply) != 0)
        weir_message_free(self, reply);
    return WEIR_DONE;
}

static const struct weir_behaviour squaring = {
    .name = "squaring",
    .summary = "answers the square of a number, and rejects each hundredth",
    .handle = square,
};

/* A question that is open; `reference` 0: none. */
struct question {
    uint64_t reference;
    _Atomic int has_answer;
    int bell; /* the eventfd */
};

struct loop {
    struct weir_runtime *runtime;
    weir_pid pool;
    struct question questions[OPEN_MAX];
    uint64_t asked, answered, rejected, sum;
    int bell;
};

/* On the thread of the worker that answers. */
static void ring(void *context)
{
    struct question *question = context;
    const uint64_t one = 1;

    question->has_answer = 1;
    (void)!write(question->bell, &one, sizeof one);
}

/* False: the pool has no room, or memory is out; the loop asks again after the next answer. */
static int ask(struct loop *loop, struct question *question)
{
    struct weir_message *message = weir_runtime_message_new(loop->runtime, NULL, sizeof(uint64_t));

    if (!message)
        return 0;
    *(uint64_t *)message->data = loop->asked + 1;
    question->has_answer = 0;
    question->bell = loop->bell;
    if (weir_runtime_request(loop->runtime, loop->pool, WEIR_NORMAL, message, 60000,
                             &question->reference) != 0) {
        weir_runtime_message_free(loop->runtime, message);
        question->reference = 0;
        return 0;
    }
    loop->asked++;
    (void)weir_runtime_on_answer(loop->runtime, question->reference, ring, question);
    return 1;
}

static void fetch(struct loop *loop, struct question *question)
{
    struct weir_answer answer = WEIR_ANSWER;
    int status = weir_runtime_await(loop->runtime, question->reference, &answer); /* at once */

    question->reference = 0;
    loop->answered += status == 0;
    loop->rejected += status == WEIR_EREJECTED;
    if (answer.message)
        loop->sum += *(const uint64_t *)answer.message->data;
    weir_runtime_message_free(loop->runtime, answer.message);
}

/* Fetches what has come, and asks while there is room. */
static void turn(struct loop *loop)
{
    int has_room = 1;

    for (unsigned i = 0; i < OPEN_MAX; i++) {
        struct question *question = &loop->questions[i];

        if (question->reference && question->has_answer)
            fetch(loop, question);
        if (!question->reference && has_room && loop->asked < QUESTIONS)
            has_room = ask(loop, question);
    }
}

static void run(struct loop *loop, int poller)
{
    struct epoll_event event = { .events = EPOLLIN, .data = { .fd = loop->bell } };
    uint64_t rings;

    (void)epoll_ctl(poller, EPOLL_CTL_ADD, loop->bell, &event); /* beside the program's own */
    turn(loop);
    while (loop->answered + loop->rejected < QUESTIONS)
        if (epoll_wait(poller, &event, 1, -1) > 0 && event.data.fd == loop->bell &&
            read(loop->bell, &rings, sizeof rings) > 0)
            turn(loop);
}

int main(void)
{
    struct weir_runtime_options options = WEIR_RUNTIME_OPTIONS;
    struct weir_pool_options pool = WEIR_POOL_OPTIONS;
    static struct loop loop;
    int poller = epoll_create1(EPOLL_CLOEXEC);

    loop.bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    options.threads = 2;
    pool.path = "squares";
    pool.behaviour = &squaring;
    pool.workers = 4;
    pool.limit = OPEN_MAX;
    if (poller < 0 || loop.bell < 0 || weir_runtime_create(&options, &loop.runtime) != 0 ||
        weir_runtime_add_pool(loop.runtime, &pool, &loop.pool) != 0 ||
        weir_runtime_wait_open(loop.runtime, loop.pool, 1000) != 0)
        return 70;
    run(&loop, poller);
    printf("%llu answers, %llu rejected, sum %llu\n", (unsigned long long)loop.answered,
           (unsigned long long)loop.rejected, (unsigned long long)loop.sum);
    weir_runtime_destroy(loop.runtime); /* before the bell: a worker may ring it */
    (void)close(loop.bell);
    (void)close(poller);
    return 0;
}

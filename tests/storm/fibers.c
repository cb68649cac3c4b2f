/* SPDX-License-Identifier: MIT */
#include "storm/fibers.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#include "base/lock_order.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

#define STACK_BYTES (256u * 1024u)
#define YIELD_NS 5000u /* that a spinning thread takes */
#define START_NS 1000000000u

enum fiber_state { FIBER_READY, FIBER_RESTING, FIBER_WAITING, FIBER_ASLEEP, FIBER_ENDED };

struct fiber {
    ucontext_t context;
    void *stack;
    fiber_body *body;
    void *argument;
    uint32_t weight;
    enum fiber_state state;
    const pthread_mutex_t *wanted; /* the mutex that it waits for */
    const void *word;              /* what it sleeps on */
    uint64_t until_ns;             /* asleep until then; UINT64_MAX: until it is woken */
    bool woken;                    /* by fibers_wake */
    bool reusable;                 /* has ended, and nobody asks for it any more */
    void *shadow;                  /* AddressSanitizer's, for frames of this stack */
    struct lock_order *held;       /* its locks, while it does not run */
};

struct fibers {
    struct fiber fibers[FIBERS_MAX];
    uint32_t count;
    struct fiber *running; /* NULL: the caller of fibers_step */
    ucontext_t caller;
    void *caller_shadow;
    const void *caller_stack;
    size_t caller_stack_size;
    uint64_t random;
    uint64_t trace;
    uint32_t preempt_one_in;
    uint32_t steps_between; /* preemptions at atomic operations, on average; 0: none */
    uint32_t steps_left;    /* until the next */
    uint32_t locks;         /* held by fibers */
    uint64_t yields;        /* number of yields */
    uint64_t now_ns;        /* the clock of fibers_run */
    uint64_t step_ns;       /* it moves by less than this at each step */
};

/* Global: a mutex has no context for it. */
static struct fibers *present;

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_sched_yield(void);

/* --- drawing -------------------------------------------------------------------------------- */

static uint64_t mixed(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

uint32_t fibers_draw(struct fibers *fibers, uint32_t bound)
{
    fibers->random += 0x9e3779b97f4a7c15u;
    return (uint32_t)(mixed(fibers->random) >> 32) % bound;
}

void fibers_note(struct fibers *fibers, uint64_t what)
{
    fibers->trace = mixed(fibers->trace ^ what) + 0x9e3779b97f4a7c15u;
}

uint64_t fibers_trace(const struct fibers *fibers)
{
    return fibers->trace;
}

/* --- switching ------------------------------------------------------------------------------ */

/* `shadow`: receives the state of the stack that is left; NULL: it is left for good. */
static void announce_switch(void **shadow, const void *stack, size_t size)
{
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(shadow, stack, size);
#else
    (void)shadow;
    (void)stack;
    (void)size;
#endif
}

static void announce_arrival(void *shadow, const void **from, size_t *from_size)
{
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(shadow, from, from_size);
#else
    (void)shadow;
    (void)from;
    (void)from_size;
#endif
}

static void go_on(struct fibers *fibers, struct fiber *fiber)
{
    struct lock_order *held = lock_order_switch(fiber->held);

    fibers->running = fiber;
    announce_switch(&fibers->caller_shadow, fiber->stack, STACK_BYTES);
    (void)swapcontext(&fibers->caller, &fiber->context);
    announce_arrival(fibers->caller_shadow, NULL, NULL);
    fibers->running = NULL;
    fiber->held = lock_order_switch(held);
}

static void go_back(struct fibers *fibers, struct fiber *fiber)
{
    announce_switch(fiber->state == FIBER_ENDED ? NULL : &fiber->shadow, fibers->caller_stack,
                    fibers->caller_stack_size);
    (void)swapcontext(&fiber->context, &fibers->caller);
    announce_arrival(fiber->shadow, &fibers->caller_stack, &fibers->caller_stack_size);
}

static void begin(void)
{
    struct fibers *fibers = present;
    struct fiber *fiber = fibers->running;

    announce_arrival(NULL, &fibers->caller_stack, &fibers->caller_stack_size);
    fiber->body(fiber->argument);
    fiber->state = FIBER_ENDED;
    fibers_wake(fiber, UINT32_MAX);
    go_back(fibers, fiber);
}

void fibers_rouse(struct fibers *fibers)
{
    for (uint32_t i = 0; i < fibers->count; i++)
        if (fibers->fibers[i].state == FIBER_RESTING)
            fibers->fibers[i].state = FIBER_READY;
}

void fibers_yield(void)
{
    if (!present || !present->running)
        return;
    present->yields++;
    fibers_rouse(present);
    go_back(present, present->running);
}

void fibers_may_yield(void)
{
    if (present && present->running && present->preempt_one_in &&
        fibers_draw(present, present->preempt_one_in) == 0)
        go_back(present, present->running);
}

void fibers_may_yield_at_step(void)
{
    struct fibers *fibers = present;

    if (!fibers || !fibers->running || fibers->steps_between == 0 || --fibers->steps_left > 0)
        return;
    fibers->steps_left = 1 + fibers_draw(fibers, 2 * fibers->steps_between);
    go_back(fibers, fibers->running);
}

void fibers_rest(void)
{
    if (!present || !present->running)
        return;
    present->running->state = FIBER_RESTING;
    go_back(present, present->running);
}

bool fibers_sleep(const void *word, uint64_t until_ns)
{
    struct fiber *fiber = present->running;

    fiber->state = FIBER_ASLEEP;
    fiber->word = word;
    fiber->until_ns = until_ns;
    fiber->woken = false;
    go_back(present, fiber);
    return fiber->woken;
}

void fibers_wake(const void *word, uint32_t count)
{
    for (uint32_t i = 0; present && i < present->count && count > 0; i++) {
        struct fiber *fiber = &present->fibers[i];

        if (fiber->state != FIBER_ASLEEP || fiber->word != word)
            continue;
        fiber->state = FIBER_READY;
        fiber->woken = true;
        count--;
    }
}

void fibers_join(uint32_t number)
{
    struct fiber *fiber = &present->fibers[number];

    while (fiber->state != FIBER_ENDED)
        (void)fibers_sleep(fiber, UINT64_MAX);
    fiber->reusable = true;
}

bool fibers_in_one(uint32_t *out_number)
{
    if (!present || !present->running)
        return false;
    *out_number = (uint32_t)(present->running - present->fibers);
    return true;
}

/* --- life ----------------------------------------------------------------------------------- */

struct fibers *fibers_create(uint64_t seed, uint32_t preempt_one_in)
{
    struct fibers *fibers = calloc(1, sizeof *fibers);

    if (!fibers || present)
        abort();
    fibers->random = mixed(seed + 1);
    fibers->preempt_one_in = preempt_one_in;
    fibers->now_ns = START_NS;
    fibers->step_ns = 1;
    present = fibers;
    return fibers;
}

void fibers_preempt_steps(struct fibers *fibers, uint32_t steps_between)
{
    fibers->steps_between = steps_between;
    fibers->steps_left = 1;
}

void fibers_destroy(struct fibers *fibers)
{
    if (!fibers)
        return;
    for (uint32_t i = 0; i < fibers->count; i++)
        free(fibers->fibers[i].stack);
    free(fibers);
    present = NULL;
}

/* The slot of a fiber that has ended, or a new one. */
static struct fiber *free_slot(struct fibers *fibers)
{
    for (uint32_t i = 0; i < fibers->count; i++)
        if (fibers->fibers[i].reusable)
            return &fibers->fibers[i];
    if (fibers->count == FIBERS_MAX)
        abort();
    return &fibers->fibers[fibers->count++];
}

/* On a stack of its own, from its body on. */
static void prepare(struct fiber *fiber)
{
    if (!fiber->stack || getcontext(&fiber->context) != 0)
        abort();
    fiber->context.uc_stack.ss_sp = fiber->stack;
    fiber->context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&fiber->context, begin, 0);
}

uint32_t fibers_add(struct fibers *fibers, fiber_body *body, void *context, uint32_t weight)
{
    struct fiber *fiber = free_slot(fibers);
    void *stack = fiber->stack ? fiber->stack : malloc(STACK_BYTES);

    *fiber = (struct fiber){ .stack = stack, .body = body, .argument = context, .weight = weight };
    prepare(fiber);
    return (uint32_t)(fiber - fibers->fibers);
}

uint32_t fibers_add_here(fiber_body *body, void *context)
{
    return fibers_add(present, body, context, 1);
}

/* --- stepping ------------------------------------------------------------------------------- */

static struct fiber *draw_ready(struct fibers *fibers)
{
    uint32_t sum = 0, drawn;

    for (uint32_t i = 0; i < fibers->count; i++)
        if (fibers->fibers[i].state == FIBER_READY)
            sum += fibers->fibers[i].weight;
    if (sum == 0)
        return NULL;
    drawn = fibers_draw(fibers, sum);
    for (uint32_t i = 0;; i++) {
        struct fiber *fiber = &fibers->fibers[i];

        if (fiber->state != FIBER_READY)
            continue;
        if (drawn < fiber->weight)
            return fiber;
        drawn -= fiber->weight;
    }
}

static void expect_no_deadlock(const struct fibers *fibers)
{
    uint32_t waiting = 0;

    for (uint32_t i = 0; i < fibers->count; i++)
        waiting += fibers->fibers[i].state == FIBER_WAITING;
    if (waiting == 0)
        return;
    (void)fprintf(stderr, "wrong: a deadlock, %u fibers wait for mutexes\n", waiting);
    abort();
}

bool fibers_step(struct fibers *fibers)
{
    struct fiber *fiber = draw_ready(fibers);

    if (!fiber) {
        expect_no_deadlock(fibers);
        return false;
    }
    fibers_note(fibers, (uint64_t)(fiber - fibers->fibers));
    go_on(fibers, fiber);
    return true;
}

/* --- running, with a clock ------------------------------------------------------------------- */

uint64_t fibers_now_ns(void)
{
    return present->now_ns;
}

void fibers_set_step_ns(struct fibers *fibers, uint64_t step_ns)
{
    fibers->step_ns = step_ns;
}

static uint64_t next_due(const struct fibers *fibers)
{
    uint64_t next = UINT64_MAX;

    for (uint32_t i = 0; i < fibers->count; i++)
        if (fibers->fibers[i].state == FIBER_ASLEEP && fibers->fibers[i].until_ns < next)
            next = fibers->fibers[i].until_ns;
    return next;
}

static void wake_due(struct fibers *fibers)
{
    for (uint32_t i = 0; i < fibers->count; i++)
        if (fibers->fibers[i].state == FIBER_ASLEEP && fibers->fibers[i].until_ns <= fibers->now_ns)
            fibers->fibers[i].state = FIBER_READY;
}

bool fibers_run(struct fibers *fibers, uint64_t steps_max)
{
    for (uint64_t steps = 0; fibers_left(fibers) > 0 && steps < steps_max; steps++) {
        struct fiber *fiber = draw_ready(fibers);

        if (fiber) {
            go_on(fibers, fiber);
            fibers->now_ns += fibers_draw(fibers, (uint32_t)fibers->step_ns);
        } else if (next_due(fibers) == UINT64_MAX) {
            return false;
        } else if (next_due(fibers) > fibers->now_ns) {
            fibers->now_ns = next_due(fibers);
        }
        wake_due(fibers);
        fibers_note(fibers, fiber ? (uint64_t)(fiber - fibers->fibers) : fibers->now_ns);
    }
    return fibers_left(fibers) == 0;
}

void fibers_print(const struct fibers *fibers)
{
    static const char *const states[] = { "ready", "resting", "waiting for a mutex", "asleep",
                                          "ended" };

    for (uint32_t i = 0; i < fibers->count; i++)
        if (fibers->fibers[i].state != FIBER_ENDED)
            (void)fprintf(stderr, "    fiber %u: %s\n", i, states[fibers->fibers[i].state]);
}

uint64_t fibers_yields(const struct fibers *fibers)
{
    return fibers->yields;
}

bool fibers_come_to_rest(struct fibers *fibers, uint32_t steps_max)
{
    uint64_t yields = fibers->yields;

    fibers_rouse(fibers);
    for (uint32_t steps = 0; steps < steps_max; steps++) {
        if (fibers_step(fibers))
            continue;
        if (yields == fibers->yields)
            return true;
        yields = fibers->yields;
        fibers_rouse(fibers);
    }
    return false;
}

uint32_t fibers_left(const struct fibers *fibers)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < fibers->count; i++)
        left += fibers->fibers[i].state != FIBER_ENDED;
    return left;
}

bool fibers_hold_locks(const struct fibers *fibers)
{
    return fibers->locks > 0;
}

/* --- mutexes: the linker puts these in place of those of the C library ----------------------- */

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    struct fibers *fibers = present;

    if (!fibers || !fibers->running)
        return __real_pthread_mutex_lock(mutex);
    fibers_may_yield();
    while (__real_pthread_mutex_trylock(mutex) == EBUSY) {
        fibers->running->state = FIBER_WAITING;
        fibers->running->wanted = mutex;
        go_back(fibers, fibers->running);
    }
    fibers->locks++;
    return 0;
}

int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    struct fibers *fibers = present;
    int status;

    if (!fibers || !fibers->running)
        return __real_pthread_mutex_trylock(mutex);
    fibers_may_yield();
    status = __real_pthread_mutex_trylock(mutex);
    if (status == 0)
        fibers->locks++;
    return status;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    struct fibers *fibers = present;
    int status = __real_pthread_mutex_unlock(mutex);

    if (!fibers || !fibers->running)
        return status;
    fibers->locks--;
    for (uint32_t i = 0; i < fibers->count; i++) {
        struct fiber *fiber = &fibers->fibers[i];

        if (fiber->state == FIBER_WAITING && fiber->wanted == mutex)
            fiber->state = FIBER_READY;
    }
    fibers_may_yield();
    return status;
}

void fibers_unlock(pthread_mutex_t *mutex)
{
    uint32_t preempts = present->preempt_one_in;

    present->preempt_one_in = 0;
    (void)__wrap_pthread_mutex_unlock(mutex);
    present->preempt_one_in = preempts;
}

/* A spinning thread waits for another one, maybe for one that sleeps until some time. */
int __wrap_sched_yield(void)
{
    if (!present || !present->running)
        return 0;
    present->now_ns += YIELD_NS;
    go_back(present, present->running);
    return 0;
}

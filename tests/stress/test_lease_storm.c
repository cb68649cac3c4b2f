/* SPDX-License-Identifier: MIT */
/*
 * Goal: under a storm of takes, returns, takers that give up, holders and members that fail,
 * leases that are forgotten, resizes and reloads, no member is ever used by two, no lease is lost,
 * and each take is counted once.
 *
 * Method: the world of lease_storm.h on the machine's clock: threads of the program and workers
 * take members of a group of two pools that scale themselves, of each of these, and of a pool whose
 * leases come and go; each member numbers its sessions, and holders note which of them they had. It
 * goes on until each way to end a lease and a take was seen often enough, or, with --seconds, for
 * so long; in ten seconds or more each way must have been seen. Then all leases end, and all
 * figures agree.
 *
 *      test_lease_storm [--seed N] [--seconds N]
 *
 * promises P32, P33, P34, P35, P37, P38 and P40
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "stress/lease_storm.h"

#define TAKERS 3u
#define REST_MS 1u /* of trouble, between two acts */
#define ENOUGH 20u
#define LEASES_MIN 5000u
#define LONG_S 10u /* the rarest way happens some hundred times in it */

struct agent {
    struct storm *storm;
    void (*act)(struct storm *storm, uint64_t *random);
    uint64_t random;
    uint32_t acts; /* between two rests */
    pthread_t thread;
};

static uint64_t now_s(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec;
}

static bool is_notified(void *context)
{
    return atomic_load(&((struct storm *)context)->over);
}

static void *run_agent(void *argument)
{
    struct agent *agent = argument;

    while (!atomic_load(&agent->storm->over)) {
        for (uint32_t i = 0; i < agent->acts; i++)
            agent->act(agent->storm, &agent->random);
        (void)runtime_wait(agent->storm->rig.runtime, is_notified, agent->storm, REST_MS);
    }
    return NULL;
}

static bool was_a_storm(struct storm *storm)
{
    struct pool_leases sum;
    bool enough;

    storm_figures(storm, &sum);
    enough = sum.begun >= LEASES_MIN && atomic_load(&storm->given_up) >= ENOUGH &&
             atomic_load(&storm->plain) >= ENOUGH && atomic_load(&storm->changes) >= ENOUGH;
    for (int end = 0; end < LEASE_ENDS; end++)
        enough &= sum.ended[end] >= (end == LEASE_REMOVED ? 1 : ENOUGH);
    for (int end = 0; end < TAKE_ENDS; end++)
        enough &= sum.unserved[end] >= (end == TAKE_REFUSED ? 1 : ENOUGH);
    return enough;
}

static bool is_over(struct storm *storm, uint64_t began_s, uint64_t seconds)
{
    if (atomic_load(&storm->sessions) > SESSIONS_MAX / 2 || atomic_load(&storm->wrong) > 0)
        return true;
    return seconds ? now_s() - began_s >= seconds : was_a_storm(storm);
}

static void run(struct storm *storm, uint64_t seconds)
{
    struct agent agents[TAKERS + 2] = { 0 };
    uint64_t began_s = now_s();

    for (uint32_t i = 0; i < TAKERS + 2; i++) {
        struct agent *agent = &agents[i];

        agent->storm = storm;
        agent->random = storm->seed * 1000 + i + 1;
        agent->act = i < TAKERS ? storm_take : i == TAKERS ? storm_send : storm_change;
        agent->acts = i < TAKERS ? 20 : i == TAKERS ? 10 : 1;
        if (pthread_create(&agent->thread, NULL, run_agent, agent) != 0)
            abort();
    }
    while (!is_over(storm, began_s, seconds)) {
        (void)runtime_wait(storm->rig.runtime, is_notified, storm, 20);
    }
    atomic_store(&storm->over, true);
    for (uint32_t i = 0; i < TAKERS + 2; i++)
        pthread_join(agents[i].thread, NULL);
}

static void print_figures(struct storm *storm)
{
    struct pool_leases sum;

    storm_figures(storm, &sum);
    (void)printf("takes %" PRIu64 ", leases %" PRIu64 ", answered %" PRIu64 ", sessions %" PRIu64
                 ", given up %" PRIu64 ", plain messages %" PRIu64 ", changes %" PRIu64
                 ", of which without leases %" PRIu32 "\n",
                 atomic_load(&storm->asked), sum.begun, atomic_load(&storm->answered),
                 atomic_load(&storm->sessions), atomic_load(&storm->given_up),
                 atomic_load(&storm->plain), atomic_load(&storm->changes), storm->lost_gives);
    for (int end = 0; end < LEASE_ENDS; end++)
        (void)printf("%s %" PRIu64 ", ", pool_lease_end_name((enum lease_end)end), sum.ended[end]);
    for (int end = 0; end < TAKE_ENDS; end++)
        (void)printf("%s %" PRIu64 "%s", pool_take_end_name((enum take_end)end), sum.unserved[end],
                     end + 1 < TAKE_ENDS ? ", " : "\n");
    (void)fflush(stdout);
}

/* A storm that has never ended a lease in some way shows nothing about it. */
static void expect_each_end(struct storm *storm)
{
    struct pool_leases sum;

    storm_figures(storm, &sum);
    for (int end = 0; end < LEASE_ENDS; end++)
        storm_expect(storm, sum.ended[end] > 0, "no lease has ended in this way", (uint64_t)end);
    for (int end = 0; end < TAKE_ENDS; end++)
        storm_expect(storm, sum.unserved[end] > 0, "no take has ended in this way", (uint64_t)end);
}

int main(int count, char **arguments)
{
    static struct storm storm;
    uint64_t seed = (uint64_t)time(NULL), seconds = 0;

    for (int i = 1; i + 1 < count; i += 2) {
        uint64_t value = strtoull(arguments[i + 1], NULL, 10);

        if (strcmp(arguments[i], "--seed") == 0)
            seed = value;
        else if (strcmp(arguments[i], "--seconds") == 0)
            seconds = value;
    }
    (void)printf("seed %" PRIu64 ", seconds %" PRIu64 "\n", seed, seconds);
    (void)fflush(stdout);
    storm_init(&storm, seed);
    run(&storm, seconds);
    print_figures(&storm);
    if (seconds == 0 || seconds >= LONG_S)
        expect_each_end(&storm);
    storm_finish(&storm);
    return atomic_load(&storm.wrong) > 0;
}

/* SPDX-License-Identifier: MIT */
// oneTBB: a task for each message, in task_groups of one arena. Nothing has a limit.
#include <tbb/enumerable_thread_specific.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "../../row.h"

struct local {
    uint64_t sum = 0, messages = 0, noise = 0;
};

using locals = tbb::enumerable_thread_specific<local>;

// Each sender is a task that makes the tasks of its messages.
static void run_tasks(const row &shape, uint64_t senders, locals &all)
{
    tbb::task_group group;

    for (uint64_t sender = 0; sender < senders; sender++)
        group.run([&] {
            for (uint64_t i = 1; i <= shape.each; i++)
                group.run([&all, &shape, i] {
                    local &mine = all.local();
                    mine.sum += i;
                    mine.messages++;
                    mine.noise = row_work(mine.noise + i, shape.steps);
                });
        });
    group.wait();
}

static uint64_t grow(uint64_t first, uint64_t size)
{
    if (size == 1)
        return first;
    uint64_t sums[10], sum = 0;
    tbb::task_group group;
    for (uint64_t i = 0; i < 10; i++)
        group.run([=, &sums] { sums[i] = grow(first + i * (size / 10), size / 10); });
    group.wait();
    for (uint64_t one : sums)
        sum += one;
    return sum;
}

int main(int argc, char **argv)
{
    row shape;
    if (!row_parse(argc, argv, &shape))
        return 64;
    bool tasks = row_is(&shape, "pool0") || row_is(&shape, "pool1us") || row_is(&shape, "fjcreate");
    if (!tasks && !row_is(&shape, "skynet"))
        return ROW_UNKNOWN;
    uint64_t leaves = 1;
    while (leaves * 10 <= shape.each)
        leaves *= 10;

    tbb::global_control control(tbb::global_control::max_allowed_parallelism, shape.threads);
    tbb::task_arena arena(static_cast<int>(shape.threads));
    locals all;
    uint64_t sum = 0, start = row_now_ns();
    arena.execute([&] {
        if (tasks)
            run_tasks(shape, shape.senders, all);
        else
            sum = grow(0, leaves);
    });
    uint64_t ns = row_now_ns() - start;

    uint64_t messages = tasks ? 0 : leaves + leaves / 10;
    uint64_t expected =
        tasks ? shape.senders * (shape.each * (shape.each + 1) / 2) : leaves * (leaves - 1) / 2;
    for (const local &one : all) {
        sum += one.sum;
        messages += one.messages;
    }
    row_print(messages, ns, sum == expected);
    row_print_end();
    return 0;
}

/* SPDX-License-Identifier: MIT */
// CAF 0.17, which Debian packages: event-based actors with unbounded mailboxes; a pool is CAF's
// actor_pool, by turns.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "caf/all.hpp"

#include "../../row.h"

using namespace caf;

using start_t = int32_t; // go on
using done_t = int64_t;  // to the main thread

// --- chains

class ponger : public event_based_actor {
public:
    explicit ponger(actor_config &config) : event_based_actor(config) {}
    behavior make_behavior() override
    {
        return { [this](const actor &other) { peer = other; },
                 [this](uint64_t number) { send(peer, number); } };
    }
    actor peer;
};

class pinger : public event_based_actor {
public:
    pinger(actor_config &config, actor other, actor to, uint64_t count)
        : event_based_actor(config), pong(other), sink(to), left(count)
    {
    }
    behavior make_behavior() override
    {
        return { [this](start_t) {
                    send(pong, actor{ this });
                    send(pong, left);
                },
                 [this](uint64_t number) {
                     sum += number;
                     if (--left == 0)
                         send(sink, done_t(sum));
                     else
                         send(pong, left);
                 } };
    }
    actor pong, sink;
    uint64_t left, sum = 0;
};

class asker : public event_based_actor {
public:
    asker(actor_config &config, actor other, actor to, uint64_t count)
        : event_based_actor(config), server(other), sink(to), left(count)
    {
    }
    behavior make_behavior() override
    {
        return { [this](start_t) { ask(); } };
    }
    void ask()
    {
        request(server, std::chrono::seconds(5), left).then([this](uint64_t number) {
            sum += number;
            if (--left == 0)
                send(sink, done_t(sum));
            else
                ask();
        });
    }
    actor server, sink;
    uint64_t left, sum = 0;
};

class ringer : public event_based_actor {
public:
    ringer(actor_config &config, actor to) : event_based_actor(config), sink(to) {}
    behavior make_behavior() override
    {
        return { [this](const actor &other) { next = other; },
                 [this](uint64_t left) {
                     if (left == 0)
                         send(sink, done_t(1));
                     else
                         send(next, left - 1);
                 } };
    }
    actor next, sink;
};

// --- streams and pools

class counter : public event_based_actor {
public:
    counter(actor_config &config, actor to, uint64_t count, uint64_t work)
        : event_based_actor(config), sink(to), expected(count), steps(work)
    {
    }
    behavior make_behavior() override
    {
        return { [this](uint64_t number) {
            sum += number;
            noise = row_work(noise + number, steps);
            if (++messages == expected)
                send(sink, done_t(sum));
        } };
    }
    actor sink;
    uint64_t expected, steps, messages = 0, sum = 0, noise = 0;
};

class producer : public event_based_actor { // to each receiver by turns
public:
    producer(actor_config &config, std::vector<actor> all, uint64_t count)
        : event_based_actor(config), receivers(std::move(all)), each(count)
    {
    }
    behavior make_behavior() override
    {
        return { [this](start_t) {
            for (uint64_t i = 1; i <= each; i++)
                for (auto &receiver : receivers)
                    send(receiver, i);
        } };
    }
    std::vector<actor> receivers;
    uint64_t each;
};

class bigger : public event_based_actor {
public:
    using crowd = std::shared_ptr<std::vector<actor>>;
    bigger(actor_config &config, crowd all, actor to, uint64_t number, uint64_t pings)
        : event_based_actor(config), actors(all), sink(to), id(number), left(pings),
          random((number + 1) * 0x9E3779B97F4A7C15u)
    {
    }
    behavior make_behavior() override
    {
        return { [this](start_t) { next(); },
                 [this](uint64_t from) { send((*actors)[from], int64_t(id)); },
                 [this](int64_t) {
                     pongs++;
                     next();
                 } };
    }
    void next()
    {
        if (left == 0) {
            send(sink, done_t(pongs));
            return;
        }
        left--;
        send((*actors)[row_random(&random) % actors->size()], id);
    }
    crowd actors;
    actor sink;
    uint64_t id, left, random, pongs = 0;
};

// --- actors that come and go

struct tally {
    std::atomic<uint64_t> messages{ 0 }, sum{ 0 };
};

class once : public event_based_actor {
public:
    once(actor_config &config, actor to, tally *all, uint64_t count)
        : event_based_actor(config), sink(to), total(all), expected(count)
    {
    }
    behavior make_behavior() override
    {
        return { [this](uint64_t number) {
            total->sum.fetch_add(number, std::memory_order_relaxed);
            if (total->messages.fetch_add(1) + 1 == expected)
                send(sink, done_t(total->sum.load()));
            quit();
        } };
    }
    actor sink;
    tally *total;
    uint64_t expected;
};

class creator : public event_based_actor {
public:
    creator(actor_config &config, actor to, tally *all, uint64_t count)
        : event_based_actor(config), sink(to), total(all), each(count)
    {
    }
    behavior make_behavior() override
    {
        return { [this](start_t) {
            for (uint64_t i = 1; i <= each; i++)
                send(spawn<once>(sink, total, each), i);
        } };
    }
    actor sink;
    tally *total;
    uint64_t each;
};

class sky : public event_based_actor {
public:
    sky(actor_config &config, actor up, uint64_t from, uint64_t leaves)
        : event_based_actor(config), parent(up), first(from), size(leaves)
    {
    }
    behavior make_behavior() override
    {
        if (size == 1) {
            send(parent, first);
            return {};
        }
        actor self{ this };
        for (uint64_t i = 0; i < 10; i++)
            spawn<sky>(self, first + i * (size / 10), size / 10);
        return { [this](uint64_t number) {
            sum += number;
            if (++got == 10) {
                send(parent, sum);
                quit();
            }
        } };
    }
    actor parent;
    uint64_t first, size, sum = 0, got = 0;
};

class idler : public event_based_actor {
public:
    idler(actor_config &config, tally *all) : event_based_actor(config), total(all) {}
    behavior make_behavior() override
    {
        total->messages.fetch_add(1);
        return { [this](uint64_t number) { sum += number; } };
    }
    tally *total;
    uint64_t sum = 0;
};

// --- rows

struct outcome {
    uint64_t messages = 0; // 0: the row is not known
    uint64_t reports = 0;  // that the actors send to the main thread
    uint64_t sum = 0;      // of these
};

static uint64_t triangle(uint64_t count)
{
    return count * (count + 1) / 2;
}

static outcome start_chain(actor_system &system, scoped_actor &self, const row &shape)
{
    actor me{ self.ptr() };
    if (row_is(&shape, "pingpong")) {
        auto ping = system.spawn<pinger>(system.spawn<ponger>(), me, shape.each);
        self->send(ping, start_t{ 0 });
        return { 2 * shape.each, 1, triangle(shape.each) };
    }
    if (row_is(&shape, "request")) {
        auto server = system.spawn([]() -> behavior {
            return { [](uint64_t number) { return number + 1; } };
        });
        self->send(system.spawn<asker>(server, me, shape.each), start_t{ 0 });
        return { shape.each, 1, triangle(shape.each) + shape.each };
    }
    std::vector<actor> actors;
    for (uint32_t i = 0; i < shape.receivers; i++)
        actors.push_back(system.spawn<ringer>(me));
    for (uint32_t i = 0; i < shape.receivers; i++)
        self->send(actors[i], actors[(i + 1) % shape.receivers]);
    self->send(actors[0], shape.each);
    return { shape.each, 1, 1 };
}

static outcome start_stream(actor_system &system, scoped_actor &self, const row &shape)
{
    actor me{ self.ptr() };
    uint64_t each = shape.each, all = each * shape.senders;
    std::vector<actor> receivers;
    for (uint32_t i = 0; i < shape.receivers; i++)
        receivers.push_back(system.spawn<counter>(me, all, 0u));
    for (uint32_t i = 0; i < shape.senders; i++)
        self->send(system.spawn<producer>(receivers, each), start_t{ 0 });
    return { all * shape.receivers, shape.receivers,
             triangle(each) * shape.senders * shape.receivers };
}

static outcome start_pool(actor_system &system, scoped_actor &self, const row &shape)
{
    actor me{ self.ptr() };
    uint64_t share = shape.senders * shape.each / shape.receivers;
    auto make = [&] { return actor{ system.spawn<counter>(me, share, shape.steps) }; };
    auto pool = actor_pool::make(system.dummy_execution_unit(), shape.receivers, make,
                                 actor_pool::round_robin());
    for (uint32_t i = 0; i < shape.senders; i++)
        self->send(system.spawn<producer>(std::vector<actor>{ pool }, shape.each), start_t{ 0 });
    return { shape.senders * shape.each, shape.receivers, triangle(shape.each) * shape.senders };
}

static outcome start_big(actor_system &system, scoped_actor &self, const row &shape)
{
    actor me{ self.ptr() };
    auto actors = std::make_shared<std::vector<actor>>();
    for (uint64_t i = 0; i < shape.receivers; i++)
        actors->push_back(system.spawn<bigger>(actors, me, i, shape.each));
    for (auto &one : *actors)
        self->send(one, start_t{ 0 });
    return { 2 * shape.receivers * shape.each, shape.receivers, shape.receivers * shape.each };
}

static outcome start_skynet(actor_system &system, scoped_actor &self, const row &shape)
{
    uint64_t leaves = 1;
    while (leaves * 10 <= shape.each)
        leaves *= 10;
    system.spawn<sky>(actor{ self.ptr() }, uint64_t{ 0 }, leaves);
    return { leaves + leaves / 10, 1, leaves * (leaves - 1) / 2 };
}

static outcome start_row(actor_system &system, scoped_actor &self, const row &shape, tally *total)
{
    auto is = [&](const char *name) { return row_is(&shape, name); };
    if (is("pingpong") || is("request") || is("ring"))
        return start_chain(system, self, shape);
    if (is("count") || is("fjthrput") || is("contend"))
        return start_stream(system, self, shape);
    if (is("pool0") || is("pool1us"))
        return start_pool(system, self, shape);
    if (is("big"))
        return start_big(system, self, shape);
    if (is("skynet"))
        return start_skynet(system, self, shape);
    if (!is("fjcreate"))
        return {};
    self->send(system.spawn<creator>(actor{ self.ptr() }, total, shape.each), start_t{ 0 });
    return { shape.each, 1, triangle(shape.each) };
}

static void run_idle(actor_system &system, const row &shape)
{
    static tally total;
    std::vector<actor> actors;
    actors.reserve(shape.each);
    long before = row_status_kb("VmRSS");
    uint64_t start = row_now_ns();
    for (uint64_t i = 0; i < shape.each; i++)
        actors.push_back(system.spawn<idler>(&total));
    while (total.messages != shape.each)
        sched_yield();
    row_print(shape.each, row_now_ns() - start, true);
    row_print_figure("figure", double(row_status_kb("VmRSS") - before) * 1024 / double(shape.each));
    row_print_end();
    std::_Exit(0); // a million ends are not measured
}

int main(int argc, char **argv)
{
    static tally total;
    row shape;
    if (!row_parse(argc, argv, &shape))
        return 64;
    actor_system_config config;
    config.set("scheduler.max-threads", uint64_t{ shape.threads });
    actor_system system{ config };
    if (row_is(&shape, "idle"))
        run_idle(system, shape);

    scoped_actor self{ system };
    uint64_t sum = 0, start = row_now_ns();
    outcome expected = start_row(system, self, shape, &total);
    if (expected.messages == 0)
        std::_Exit(ROW_UNKNOWN);
    for (uint64_t i = 0; i < expected.reports; i++)
        self->receive([&](done_t value) { sum += uint64_t(value); },
                      [&](uint64_t value) { sum += value; });
    row_print(expected.messages, row_now_ns() - start, sum == expected.sum);
    row_print_end();
    std::_Exit(0); // actors of some rows wait for ever
}

/* SPDX-License-Identifier: MIT */
#include "unit/reload/portrait.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "actor/events.h"
#include "pool/figures.h"
#include "pool/outlet.h"

struct drawing {
    struct hosted *hosted;
    enum portrait_detail detail;
    FILE *stream;
};

static bool has_identity(const struct drawing *drawing)
{
    return drawing->detail == PORTRAIT_IDENTITY;
}

/* A PID as it is, or the path of the pool that has it. */
static void draw_pid(const struct drawing *drawing, weir_pid pid)
{
    const struct assembly *assembly = &drawing->hosted->assembly;

    if (has_identity(drawing)) {
        fprintf(drawing->stream, " %" PRIx64, (uint64_t)pid);
        return;
    }
    for (uint32_t i = 0; i < assembly->shared->settings->pool_count; i++)
        if (assembly->pools[i]->pid == pid)
            fprintf(drawing->stream, " %s", assembly->pools[i]->path);
}

static void draw_wiring(const struct drawing *drawing, struct wiring_slot *slot)
{
    const struct wiring *wiring = atomic_load(&slot->wiring);

    fprintf(drawing->stream, " outputs");
    for (uint32_t i = 0; wiring && i < wiring->count; i++) {
        draw_pid(drawing, wiring->bindings[i].target);
        fprintf(drawing->stream, "/%d", (int)wiring->bindings[i].when_full);
    }
}

static void draw_spec(const struct drawing *drawing, const struct spec *spec)
{
    if (!spec)
        return;
    fprintf(drawing->stream, " %s restart %u", spec->behaviour->name, spec->restart.max);
    if (has_identity(drawing))
        fprintf(drawing->stream, " spec %p used %u", (const void *)spec,
                atomic_load(&spec->references));
}

/*
 * Members of an exclusive behaviour are others after a reload that was refused when they had
 * stopped: as many, and open.
 */
static void draw_workers(const struct drawing *drawing, struct pool *pool)
{
    bool same = pool->spec && !(pool->spec->behaviour->flags & WEIR_EXCLUSIVE);

    for (struct list *node = pool->places.next; node != &pool->places; node = node->next) {
        struct place *place = LIST_ENTRY(node, struct place, link);

        fprintf(drawing->stream, "\n  worker open %d limit %u bytes %ju%s%s", place->opened,
                atomic_load(&place->actor->mailbox.limit),
                (uintmax_t)atomic_load(&place->actor->mailbox.bytes_limit),
                place->standing == PLACE_LEAVING ? " leaving" : "", place->respec ? " respec" : "");
        if (has_identity(drawing) && same)
            fprintf(drawing->stream, " #%u %" PRIx64, place->index,
                    (uint64_t)actor_pid(place->actor));
    }
}

static uint32_t length_of(const struct list *list)
{
    uint32_t length = 0;

    for (const struct list *node = list->next; node != list; node = node->next)
        length++;
    return length;
}

static void draw_members(const struct drawing *drawing, struct pool *pool)
{
    const struct members *members = atomic_load(&pool->members);

    fprintf(drawing->stream, " seen %u leavers %u closers %u prepared %u", members->count,
            length_of(&pool->leavers), length_of(&pool->closers), length_of(&pool->prepared));
    for (uint32_t i = 0; i < pool->child_count; i++)
        fprintf(drawing->stream, " child %s", pool->children[i]->path);
    draw_workers(drawing, pool);
}

static void draw_pool_identity(const struct drawing *drawing, struct pool *pool)
{
    struct ledger_reading reading;

    if (!has_identity(drawing))
        return;
    pool_ledger(pool, &reading);
    fprintf(drawing->stream, " pid %" PRIx64 " %p accepted %ju done %ju dead %ju refused %ju",
            (uint64_t)pool->pid, (void *)pool, (uintmax_t)reading.accepted, (uintmax_t)reading.done,
            (uintmax_t)reading.dead, (uintmax_t)counter_sum(&pool->refused));
}

static void draw_pool(const struct drawing *drawing, struct pool *pool)
{
    weir_pid found = 0;

    lock_acquire(&pool->lock);
    fprintf(drawing->stream, "pool %s target %u in %u..%u limit %u bytes %ju route %u remove %d",
            pool->path, pool->target, pool->settings.size_min, pool->settings.size_max,
            pool->settings.mailbox, (uintmax_t)pool->settings.mailbox_bytes,
            flags_route(&pool->flags), (int)pool->settings.remove.mode);
    fprintf(drawing->stream, "/%ju on %s closing %d paused %d manager %d",
            (uintmax_t)pool->settings.remove.timeout_ms,
            pool->dispatcher ? pool->dispatcher->name : "-", flags_is_closing(&pool->flags),
            flags_is_paused(&pool->flags), pool->has_manager);
    draw_spec(drawing, pool->spec);
    draw_wiring(drawing, outlet_present(&pool->outlets));
    draw_members(drawing, pool);
    lock_release(&pool->lock);
    draw_pool_identity(drawing, pool);
    (void)names_find(&pool->runtime->names, pool->path, &found);
    fprintf(drawing->stream, " named %d events %u\n", found == pool->pid,
            events_subscribed(pool->runtime, pool->pid));
}

static void draw_source(const struct drawing *drawing, struct source *source)
{
    bool same;

    lock_acquire(&source->lock);
    fprintf(drawing->stream, "source %s going %d ended %d successor %d", source->path,
            atomic_load(&source->going), atomic_load(&source->ended),
            source->waiting_successor != NULL);
    draw_wiring(drawing, &source->wiring);
    same = source->place && !(source->actor->spec->behaviour->flags & WEIR_EXCLUSIVE);
    if (has_identity(drawing) && same)
        fprintf(drawing->stream, " pid %" PRIx64, (uint64_t)source->pid);
    lock_release(&source->lock);
    fputc('\n', drawing->stream);
}

static void draw_dispatchers(const struct drawing *drawing)
{
    const struct runtime *runtime = drawing->hosted->runtime;

    for (uint32_t i = 0; i < atomic_load(&runtime->dispatcher_count); i++) {
        struct dispatcher *dispatcher = runtime->dispatchers[i];

        if (!dispatcher->name[0])
            continue;
        fprintf(drawing->stream, "dispatcher %s threads %u running %u budget %u users %ju\n",
                dispatcher->name, atomic_load(&dispatcher->thread_count),
                atomic_load(&dispatcher->running), atomic_load(&dispatcher->budget),
                (uintmax_t)dispatcher_users(dispatcher));
    }
}

static uint32_t entries_of(const char *path)
{
    DIR *folder = opendir(path);
    uint32_t count = 0;

    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

static uint32_t actors_in_use(struct runtime *runtime)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < atomic_load(&runtime->dispatcher_count); i++)
        count += dispatcher_users(runtime->dispatchers[i]);
    return (uint32_t)count;
}

/* Buckets with an event in them; the tests' few names have one each. */
static uint32_t events_in_use(struct runtime *runtime)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < EVENTS_BUCKETS; i++)
        count += atomic_load(&runtime->events.buckets[i]) != NULL;
    return count;
}

static void draw_resources(const struct drawing *drawing)
{
    struct assembly *assembly = &drawing->hosted->assembly;
    const char *control = assembly->shared->settings->host.control;

    fprintf(drawing->stream, "actors %u events %u\n", actors_in_use(drawing->hosted->runtime),
            events_in_use(drawing->hosted->runtime));
    fprintf(drawing->stream, "descriptors %u threads %u\n", entries_of("/proc/self/fd"),
            entries_of("/proc/self/task"));
    fprintf(drawing->stream, "gone %u sources %d dispatchers %u changing %d\n",
            assembly->gone_count, assembly->gone_source_count > 0, assembly->dispatcher_count,
            assembly->changing);
    fprintf(drawing->stream, "control %s, listening %d\n", control ? control : "-",
            control && control_is_at(drawing->hosted->control, control));
    fprintf(drawing->stream, "memory %ju\n",
            (uintmax_t)memory_limit(drawing->hosted->runtime->memory));
    if (has_identity(drawing))
        fprintf(drawing->stream, "generation %u settings %p used %u\n", assembly->generation,
                (void *)assembly->shared, atomic_load(&assembly->shared->references));
}

char *portrait_draw(struct hosted *hosted, enum portrait_detail detail)
{
    struct assembly *assembly = &hosted->assembly;
    struct drawing drawing = { .hosted = hosted, .detail = detail };
    struct executor *executor = runtime_enter(hosted->runtime);
    char *text = NULL;
    size_t size;

    drawing.stream = open_memstream(&text, &size);
    if (!drawing.stream || !executor)
        abort();
    lock_acquire(&assembly->lock);
    for (uint32_t i = 0; i < assembly->shared->settings->pool_count; i++)
        draw_pool(&drawing, assembly->pools[i]);
    for (uint32_t i = 0; i < assembly->shared->settings->source_count; i++)
        draw_source(&drawing, assembly->sources[i]);
    draw_dispatchers(&drawing);
    draw_resources(&drawing);
    lock_release(&assembly->lock);
    fclose(drawing.stream);
    runtime_leave(executor);
    return text;
}

bool portrait_is_settled(struct hosted *hosted)
{
    struct assembly *assembly = &hosted->assembly;
    uint32_t actors = 1, leaving = 0; /* the supervisor */
    struct executor *executor = runtime_enter(hosted->runtime);

    if (executor) /* frees objects that sleeping threads have retired */
        runtime_leave(executor);
    lock_acquire(&assembly->lock);
    actors += assembly->shared->settings->source_count;
    for (uint32_t i = 0; i < assembly->shared->settings->pool_count; i++) {
        struct pool *pool = assembly->pools[i];

        lock_acquire(&pool->lock);
        actors += 1 + length_of(&pool->places);
        leaving += length_of(&pool->leavers) + length_of(&pool->closers);
        lock_release(&pool->lock);
    }
    leaving += assembly->changing;
    lock_release(&assembly->lock);
    return leaving == 0 && actors_in_use(hosted->runtime) == actors;
}

/* A line of `draw_resources` with the numbers of what the process has open. */
static bool read_open(const char *line, uint32_t *descriptors, uint32_t *threads)
{
    return sscanf(line, "descriptors %u threads %u", descriptors, threads) == 2;
}

static bool lines_match(const char *before, size_t size, const char *after, size_t after_size)
{
    uint32_t descriptors[2], threads[2];

    if (read_open(before, &descriptors[0], &threads[0]) &&
        read_open(after, &descriptors[1], &threads[1]))
        return descriptors[1] <= descriptors[0] && threads[1] <= threads[0];
    return size == after_size && memcmp(before, after, size) == 0;
}

/* Moves both to the first lines that do not match, or to their ends. */
static void skip_matching(const char **before, const char **after)
{
    while (**before && **after) {
        size_t left = strcspn(*before, "\n"), right = strcspn(*after, "\n");

        if (!lines_match(*before, left, *after, right))
            return;
        *before += left + ((*before)[left] == '\n');
        *after += right + ((*after)[right] == '\n');
    }
}

bool portrait_matches(const char *before, const char *after)
{
    skip_matching(&before, &after);
    return !*before && !*after;
}

void portrait_print_difference(const char *before, const char *after)
{
    skip_matching(&before, &after);
    printf("\n    before: %.*s\n    after:  %.*s\n", (int)strcspn(before, "\n"), before,
           (int)strcspn(after, "\n"), after);
}

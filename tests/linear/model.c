/* SPDX-License-Identifier: MIT */
#include "linear/model.h"

#include <stdlib.h>
#include <string.h>

#include <weir/status.h>

void model_init(struct model *model, const struct history *history)
{
    *model = (struct model){ .target = (uint8_t)history->size, .count = (uint8_t)history->size };
    for (uint8_t i = 0; i < history->size; i++)
        model->workers[i] = (struct model_worker){ .name = i + 1, .open = true };
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct model_worker));
}

static uint32_t waiting_of(const struct model_worker *worker)
{
    return (uint32_t)worker->accepted - worker->took;
}

static bool has_room(const struct history *history, const struct model_worker *worker)
{
    return worker->open && !worker->leaves && waiting_of(worker) < history->limit;
}

/* Senders that scan see that the workers that are full now have no room. */
static void look_on(struct model *model, const struct history *history)
{
    uint32_t room = 0;

    for (uint8_t i = 0; i < model->count && !model->paused; i++)
        if (has_room(history, &model->workers[i]))
            room |= 1u << model->workers[i].name;
    for (uint32_t thread = 0; thread < MODEL_THREADS_MAX; thread++)
        model->unseen[thread] &= room;
}

/* Removed workers without a name have no further events; but with a queue they finish it when the
 * pool closes. */
static void tidy(struct model *model, const struct history *history)
{
    uint8_t count = 0;

    for (uint8_t i = 0; i < model->count; i++)
        if (model->workers[i].name > 0 || !model->workers[i].leaves || history->pulls)
            model->workers[count++] = model->workers[i];
    memset(&model->workers[count], 0, sizeof model->workers - count * sizeof model->workers[0]);
    model->count = count;
    qsort(model->workers, count, sizeof model->workers[0], compare);
    look_on(model, history);
}

/* 0 is a worker without a name so far. */
static struct model_worker *find(struct model *model, uint8_t name)
{
    for (uint8_t i = 0; i < model->count; i++)
        if (model->workers[i].name == name)
            return &model->workers[i];
    return NULL;
}

/* --- sending -------------------------------------------------------------------------------- */

static bool queue_is_full(const struct model *model, const struct history *history)
{
    return model->queued >= model->target * history->limit;
}

static bool takes(struct model *model, const struct history *history, const struct step *step)
{
    struct model_worker *worker;

    if (model->closed || (model->paused && step->began > model->paused_by))
        return false;
    if (history->pulls) {
        if (queue_is_full(model, history))
            return false;
        model->queued++;
    } else {
        worker = find(model, step->worker);
        if (!worker || !has_room(history, worker))
            return false;
        worker->accepted++;
    }
    model->accepted++;
    return true;
}

static bool looks(struct model *model, const struct step *step)
{
    model->looking |= (uint8_t)(1u << step->thread);
    model->unseen[step->thread] = UINT32_MAX;
    return true;
}

/* Ends the scans: no worker had room all the while. */
static bool found_none(struct model *model, const struct step *step)
{
    uint8_t bit = (uint8_t)(1u << step->thread);
    bool may = (model->looking & bit) && model->unseen[step->thread] == 0;

    model->looking &= (uint8_t)~bit;
    return may;
}

static bool is_refused(struct model *model, const struct history *history, const struct step *step)
{
    if (model->closed)
        return false;
    if (history->pulls)
        return model->paused || queue_is_full(model, history);
    return found_none(model, step);
}

static bool sends(struct model *model, const struct history *history, const struct step *step)
{
    switch (step->status) {
    case 0:
        return takes(model, history, step);
    case WEIR_EFULL:
        return is_refused(model, history, step);
    case WEIR_ECLOSED:
    case WEIR_ETERMINATED: /* it had nothing to finish, and has ended */
        return model->closed;
    default:
        return false;
    }
}

/* --- what workers do by themselves ----------------------------------------------------------- */

static bool opens(struct model *model, uint8_t name)
{
    struct model_worker *worker = find(model, name);

    if (!worker)
        worker = find(model, 0); /* workers that stay come first */
    if (!worker || worker->open || (worker->name == 0 && worker->leaves && !model->closed))
        return false;
    worker->name = name;
    worker->open = true;
    return true;
}

static bool took(struct model *model, const struct history *history, uint8_t name)
{
    struct model_worker *worker = find(model, name);

    if (!worker || !worker->open)
        return false;
    if (history->pulls) {
        /* A removed worker takes no more messages, but a closed pool's messages are finished. */
        if (model->queued == 0 || (worker->leaves && !model->closed))
            return false;
        model->queued--;
    } else if (waiting_of(worker) == 0) {
        return false;
    }
    /* The message of a pool's queue passes through the worker's slot. */
    worker->took = (uint8_t)(worker->took + !history->pulls);
    return true;
}

/* --- looking, pausing, closing ---------------------------------------------------------------- */

static bool is_seen(const struct model *model, const struct step *step)
{
    uint32_t live = 0;

    for (uint8_t i = 0; i < model->count; i++)
        live += model->workers[i].open && !model->workers[i].leaves;
    return step->size == model->target && step->live == live && step->epoch == model->epoch &&
           step->accepted == model->accepted && step->paused == model->paused;
}

static bool closes(struct model *model)
{
    model->closed = true;
    model->target = 0;
    model->epoch++;
    for (uint8_t i = 0; i < model->count; i++)
        model->workers[i].leaves = true;
    return true;
}

/* --- sizes ---------------------------------------------------------------------------------- */

/* Handles the alternatives one after the other. */
struct choice {
    const struct history *history;
    const struct model *from;
    struct model *out;
    uint32_t made;
    bool leave; /* chooses workers to remove; else to call back */
};

static void keep(struct choice *choice, const struct model *model)
{
    if (choice->made == MODEL_NEXT_MAX)
        abort();
    choice->out[choice->made] = *model;
    tidy(&choice->out[choice->made], choice->history);
    for (uint32_t i = 0; i < choice->made; i++)
        if (memcmp(&choice->out[i], &choice->out[choice->made], sizeof *model) == 0)
            return;
    choice->made++;
}

/* Tries all choices of `count` workers from `at` on. */
static void choose(struct choice *choice, struct model *model, uint8_t at, uint32_t count)
{
    if (count == 0) {
        keep(choice, model);
        return;
    }
    for (uint8_t i = at; i < model->count; i++) {
        if (model->workers[i].leaves == choice->leave)
            continue;
        model->workers[i].leaves = choice->leave;
        choose(choice, model, (uint8_t)(i + 1), count - 1);
        model->workers[i].leaves = !choice->leave;
    }
}

/* Removed workers that have not ended are called back before new ones come; the choice is open. */
static void grow(struct choice *choice, uint32_t count)
{
    uint32_t leavers = 0;

    for (uint8_t i = 0; i < choice->from->count; i++)
        leavers += choice->from->workers[i].leaves;
    for (uint32_t recalled = 0; recalled <= leavers && recalled <= count; recalled++) {
        struct model model = *choice->from;

        if (model.count + count - recalled > MODEL_WORKERS_MAX)
            abort();
        for (uint32_t i = recalled; i < count; i++)
            model.workers[model.count++] = (struct model_worker){ 0 };
        choose(choice, &model, 0, recalled);
    }
}

static uint32_t resizes(const struct model *model, const struct history *history,
                        const struct step *step, struct model *out)
{
    struct model next = *model;
    struct choice choice = { history, &next, out, 0, step->size < model->target };
    uint32_t changed = step->size > model->target ? step->size - model->target
                                                  : model->target - step->size;

    if (model->closed || step->status != 0) {
        *out = *model;
        return model->closed && step->status == WEIR_ECLOSED;
    }
    next.epoch = (uint8_t)(next.epoch + (changed > 0));
    next.target = (uint8_t)step->size;
    if (step->changed != changed || step->epoch != next.epoch)
        return 0;
    if (choice.leave || changed == 0)
        choose(&choice, &next, 0, changed);
    else
        grow(&choice, changed);
    return choice.made;
}

/* --- all ------------------------------------------------------------------------------------- */

uint32_t model_step(const struct model *model, const struct history *history,
                    const struct step *step, struct model *out)
{
    bool may;

    if (step->kind == STEP_RESIZE)
        return resizes(model, history, step, out);
    *out = *model;
    switch (step->kind) {
    case STEP_SEND:
        may = sends(out, history, step);
        break;
    case STEP_LOOKS:
        may = looks(out, step);
        break;
    case STEP_GET:
        may = is_seen(out, step);
        break;
    case STEP_OPENED:
        may = opens(out, step->worker);
        break;
    case STEP_TOOK:
        may = took(out, history, step->worker);
        break;
    case STEP_PAUSE:
        out->paused = step->paused;
        out->paused_by = step->paused ? (uint8_t)step->ended : 0;
        may = true;
        break;
    default:
        may = closes(out);
        break;
    }
    tidy(out, history);
    return may;
}

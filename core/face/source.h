/* SPDX-License-Identifier: MIT */
/*
 * face/source.h - sources: actors that produce on demand.
 *
 * A part of weir_core.h, through which the host and libweir include it.
 */
#ifndef FACE_SOURCE_H
#define FACE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "face/figures.h"
#include "face/parts.h"

struct dispatcher;
struct executor;
struct runtime;
struct source;

struct source_options {
    const char *path; /* its name in YAML; borrowed until return */
    struct dispatcher *dispatcher;
    struct dispatcher *opener;     /* where it opens; NULL = where it runs */
    struct spec *spec;             /* takes a reference */
    weir_pid target;               /* the pool it feeds by output 0 */
    enum weir_when_full when_full; /* for a message that the pool refuses although it had room */
    const struct rate *rate;       /* of output 0; valid; borrowed until return; NULL = none */
    /* the source that it is to succeed, whose tokens it shares; NULL = none */
    struct source *replaces;
    uint32_t output_count;                          /* at least 1 */
    bool registered;                                /* its path can be looked up */
    bool waits_for_go;                              /* opens, but produces only after source_go */
    const struct dead_letters_bounds *dead_letters; /* borrowed until return; NULL = the usual */
};

/* Opens in its first turn. WEIR_EINVALID, WEIR_ENOMEM, WEIR_EEXISTS (the name). */
int source_create(struct runtime *runtime, struct executor *executor,
                  const struct source_options *options, struct source **out);

/*
 * `successor`, which waits, starts at the last position of `source` as soon as `source` has ended.
 * The caller closes `source` after this call. While `source` itself still waits for its
 * predecessor, `successor` waits for that predecessor instead.
 */
void source_succeed(struct source *source, struct source *successor, struct executor *executor);

/* `to` is paused exactly when `from` is. */
void source_pause_as(struct source *to, const struct source *from);

/* `to`, which waits, starts at the last position of `from`, which has ended. */
void source_inherit(struct source *to, struct source *from);

/* Lets a source with `waits_for_go` produce. Any thread; cannot fail. */
void source_go(struct source *source, struct executor *executor);

/* Sets the pool that the source feeds. Takes the wiring, whose output 0 is that pool. */
void source_set_wiring(struct source *source, struct wiring *wiring, struct executor *executor);

/* Replaces the spec by another, which differs in live options only. Takes the reference. */
void source_respec(struct source *source, struct spec *spec, struct executor *executor);

/*
 * A paused source finds every pool full: it is not asked to produce, what it emits waits in its
 * outbox, and what it sends to a pool, or requests there, is refused with WEIR_EFULL. What its
 * children emit waits, too. A source that replaces it is paused, too; one that ends finishes. Any
 * thread.
 */
void source_pause(struct source *source, bool paused, struct executor *executor);
bool source_is_paused(const struct source *source);

/* Tells the source that the files it has open may have been renamed: calls `reopen` of its
 * behaviour. */
void source_reopen(struct source *source, struct executor *executor);

/* Produces nothing more, and ends when its outbox is empty. Any thread. */
void source_close(struct source *source, struct executor *executor);

/* Ends the source after the callback that runs now; messages in its outbox become dead letters. Any
 * thread. */
void source_stop_now(struct source *source, struct executor *executor);

weir_pid source_pid(const struct source *source);
/* Borrowed while the source is there. */
const char *source_path(const struct source *source);

/* True once its actor has ended. */
bool source_has_ended(const struct source *source);

/* Frees an ended source. */
void source_destroy(struct source *source, struct executor *executor);

struct source_figures {
    bool is_exhausted; /* it said WEIR_END */
    uint64_t emitted;  /* messages that the pool it feeds has accepted, and those in its outbox */
    uint64_t misuses;
    struct dead_letters_figures dead;
    bool is_throttled; /* it waits for a token of its rate */
    bool is_waiting;   /* it, or a child of it, waits for room */
};
void source_look(struct source *source, struct source_figures *out);

/* Its progress by unit; also after it has ended. Returns how many units; at most `max`. */
uint32_t source_progress(struct source *source, struct pool_progress *out, uint32_t max);

/* 0: it is open; 1: not yet; negative: the status of an open that failed. */
int source_opening(struct source *source);
/* The reason that its behaviour gave when open failed, cut at `size`; "" when it gave none. */
void source_opening_reason(struct source *source, char *text, size_t size);

/* The ledger of the messages that were sent to it. */
void source_ledger(struct source *source, struct ledger_reading *out);

#endif

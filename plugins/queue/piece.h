/* SPDX-License-Identifier: MIT */
/*
 * piece.h - a piece of work: a copy of what a message has, which outlives the message.
 */
#ifndef PIECE_H
#define PIECE_H

#include <stdbool.h>
#include <stdint.h>
#include <weir/plugin.h>

#define PIECE_NAME_SIZE 64u
#define PIECE_TAG_SIZE 129u
#define PIECE_REASON_SIZE 32u
#define PIECE_DETAIL_SIZE 64u

/* The layout of the structs of this program, for a payload with a tag: byte order and bytes of a
 * pointer. */
#define PIECE_LAYOUT                                                                               \
    ((int)sizeof(void *) | (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0x100 : 0x200))

struct hub_queue;
struct client;

/* What became of a piece that was taken. */
enum piece_end {
    PIECE_DONE,     /* to be removed */
    PIECE_RETRIED,  /* ready again after `delay_ms` */
    PIECE_DEAD,     /* for `reason` */
    PIECE_RETURNED, /* ready at once, as the same attempt */
};

struct piece {
    struct piece *next; /* in a list */
    int64_t id;         /* 0 before it is stored */
    int64_t rank;
    uint64_t key; /* 0 = none */
    uint32_t attempt;
    uint32_t replays;
    int layout;                    /* 0 = none */
    char name[PIECE_NAME_SIZE];    /* of the run and a number, or the `id`; "" = not yet */
    char tag[PIECE_TAG_SIZE];      /* "" = none */
    const struct weir_message *of; /* the kept message; only says which */
    bool is_in_doubt;              /* it may be in the file: a commit failed */
    struct hub_queue *queue;       /* of the hub */
    struct client *client;         /* that put it; NULL = taken */
    enum piece_end end;
    bool is_lazy;       /* its end needs no sync */
    uint64_t delay_ms;  /* of a put: the `after` */
    int64_t ahead_ms;   /* of a put: its rank is so much before the time of its commit */
    uint64_t unique_ms; /* of a put; 0 = another one with its name is stored, too */
    bool is_duplicate;  /* it was not stored: one with its name was */
    char reason[PIECE_REASON_SIZE], detail[PIECE_DETAIL_SIZE];
    size_t size;
    char bytes[];
};

struct piece_list {
    struct piece *first, *last;
    uint32_t count;
    uint64_t bytes; /* of payload */
};

/* A piece with room for a payload. Returns owned; NULL: memory is out. */
struct piece *piece_create(size_t size);
/* A copy of a message. Returns owned; NULL: memory is out. */
struct piece *piece_copy(const struct weir_message *message);
/* Frees the payload and keeps the rest. Takes the piece, returns owned. */
struct piece *piece_shrink(struct piece *piece);
/* NULL is legal. */
void piece_destroy(struct piece *piece);

/* Takes the piece. */
void piece_list_append(struct piece_list *list, struct piece *piece);
/* Puts all pieces of `front` before those of `list`; `front` is empty then. */
void piece_list_prepend_all(struct piece_list *list, struct piece_list *front);
/* Returns owned; NULL: the list is empty. */
struct piece *piece_list_take(struct piece_list *list);
void piece_list_free(struct piece_list *list);

#endif

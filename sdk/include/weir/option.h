/* SPDX-License-Identifier: MIT */
/*
 * weir/option.h - the options of a behaviour, as a table.
 *
 * The host reads `args` of the YAML file, checks them against the table, fills the behaviour's
 * settings struct, and frees it after the last use. A plugin parses no text. A row that does not
 * fit its field does not compile:
 *
 *     struct settings { uint32_t keep, every; };
 *     static const struct weir_option options[] = {
 *         WEIR_OPTION_U32(struct settings, keep, .fallback = "1", .min = 1, .max = 1000,
 *                         .help = "messages passed on in each round"),
 *         WEIR_OPTION_U32(struct settings, every, .required = true, .min = 1, .max = 1000,
 *                         .help = "messages in a round"),
 *         { 0 },
 *     };
 */
#ifndef WEIR_OPTION_H
#define WEIR_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weir_option_kind {
    WEIR_BOOL = 1,     /* bool: true, false */
    WEIR_U32 = 2,      /* uint32_t */
    WEIR_U64 = 3,      /* uint64_t */
    WEIR_I64 = 4,      /* int64_t */
    WEIR_F64 = 5,      /* double, finite */
    WEIR_SIZE = 6,     /* uint64_t bytes: 64KiB, 4MiB */
    WEIR_DURATION = 7, /* uint64_t milliseconds: 250ms, 10s, 2m, 1h */
    WEIR_STRING = 8,   /* const char *, UTF-8, without NUL; NULL when absent */
    WEIR_ENUM = 9,     /* uint32_t index into choices */
    WEIR_LIST = 10,    /* struct weir_list: a sequence of strings */
    WEIR_MAP = 11,     /* struct weir_map: string keys and string values, in order of the file */
    WEIR_POOL = 12,    /* since 1.1: const char *, the path of a pool of the file; NULL when absent.
                        * `weir check` refuses a path that no pool has */
};

struct weir_list {
    const char *const *items;
    size_t count;
};

struct weir_pair {
    const char *key;
    const char *value;
};

struct weir_map {
    const struct weir_pair *items;
    size_t count;
};

/*
 * One option. The table ends with a row of zeros. Append-only; the plugin states the stride of the
 * table. In C++ (the rows below need C++20) the fields must be given in this order: `help` first.
 */
struct weir_option {
    const char *name;     /* the key in YAML; equal to the name of the field */
    uint32_t kind;        /* enum weir_option_kind */
    uint32_t offset;      /* of the field in the settings struct */
    const char *help;     /* one line, for `weir describe` */
    const char *fallback; /* the default, as text; NULL = zero, or required */
    const char *const
        *choices; /* WEIR_ENUM: names, ends with NULL. Since 1.1, of a WEIR_LIST: words
                                 * that may stand in place of the list, which is then of that one
                                 * text. `min` and `max` do not concern them */
    int64_t min;  /* bounds of a number, a size (bytes), a duration (ms), or the */
    int64_t max;  /* count of a list or map, inclusive; both 0 = what fits the type */
    bool required;
    bool secret; /* never printed */
    bool live;   /* `reconfigure` can change it, without a new worker */
    bool pools;  /* since 1.1, of a WEIR_MAP: each value is the path of a pool. `weir check` refuses
                  * a path that no pool has. Older hosts ignore it */
    bool state;  /* since 1.1, of a WEIR_STRING: a file in which the behaviour keeps its state, as a
                  * position. `weir check` refuses two that are one file. Older hosts ignore it */
    bool writes; /* since 1.1, of a WEIR_STRING: a file to which the behaviour appends, perhaps with
                  * others. `weir check` refuses one that keeps a state. Older hosts ignore it */
    bool meets;  /* since 1.1, of a WEIR_STRING: a name by which behaviours of the plugin meet, as a
                  * queue that one fills and another empties. `weir check` warns of one that only
                  * one behaviour of the file has. Older hosts ignore it */
    uint8_t reserved[1];
    uint32_t origins; /* since 1.1, of a WEIR_BOOL or WEIR_ENUM: one more than the value with which
                       * each message of the source has an origin; see WEIR_ORIGINS. 0 = none. Older
                       * hosts ignore it */
};

#ifdef __cplusplus
#include <type_traits>
#define WEIR_OPTION_OFFSET(owner, field, wanted)                                                   \
    (std::enable_if<std::is_same<decltype(((owner *)0)->field), wanted>::value, uint32_t>::type(   \
        offsetof(owner, field)))
#else
#define WEIR_OPTION_OFFSET(owner, field, wanted)                                                   \
    (_Generic(&((owner *)0)->field, wanted * : (uint32_t)offsetof(owner, field)))
#endif

#define WEIR_OPTION_ROW(type, field, wanted, row_kind, ...)                                        \
    {                                                                                              \
        .name = #field, .kind = (row_kind), .offset = WEIR_OPTION_OFFSET(type, field, wanted),     \
        __VA_ARGS__                                                                                \
    }

#define WEIR_OPTION_BOOL(type, field, ...)                                                         \
    WEIR_OPTION_ROW(type, field, bool, WEIR_BOOL, __VA_ARGS__)
#define WEIR_OPTION_U32(type, field, ...)                                                          \
    WEIR_OPTION_ROW(type, field, uint32_t, WEIR_U32, __VA_ARGS__)
#define WEIR_OPTION_U64(type, field, ...)                                                          \
    WEIR_OPTION_ROW(type, field, uint64_t, WEIR_U64, __VA_ARGS__)
#define WEIR_OPTION_I64(type, field, ...)                                                          \
    WEIR_OPTION_ROW(type, field, int64_t, WEIR_I64, __VA_ARGS__)
#define WEIR_OPTION_F64(type, field, ...)                                                          \
    WEIR_OPTION_ROW(type, field, double, WEIR_F64, __VA_ARGS__)
#define WEIR_OPTION_SIZE(type, field, ...)                                                         \
    WEIR_OPTION_ROW(type, field, uint64_t, WEIR_SIZE, __VA_ARGS__)
#define WEIR_OPTION_DURATION(type, field, ...)                                                     \
    WEIR_OPTION_ROW(type, field, uint64_t, WEIR_DURATION, __VA_ARGS__)
#define WEIR_OPTION_STRING(type, field, ...)                                                       \
    WEIR_OPTION_ROW(type, field, const char *, WEIR_STRING, __VA_ARGS__)
#define WEIR_OPTION_POOL(type, field, ...)                                                         \
    WEIR_OPTION_ROW(type, field, const char *, WEIR_POOL, __VA_ARGS__)
#define WEIR_OPTION_ENUM(type, field, ...)                                                         \
    WEIR_OPTION_ROW(type, field, uint32_t, WEIR_ENUM, __VA_ARGS__)
#define WEIR_OPTION_LIST(type, field, ...)                                                         \
    WEIR_OPTION_ROW(type, field, struct weir_list, WEIR_LIST, __VA_ARGS__)
#define WEIR_OPTION_MAP(type, field, ...)                                                          \
    WEIR_OPTION_ROW(type, field, struct weir_map, WEIR_MAP, __VA_ARGS__)

#endif

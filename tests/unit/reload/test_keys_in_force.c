/* SPDX-License-Identifier: MIT */
/*
 * Goal: each value of each key of a pool or a dispatcher that core has is in force from the start
 * on, after a reload that changes it, and after one that leaves the key out. Shows promise C12.
 *
 * Method: the keys come from the tables of the language, so a new key needs no line here. Each
 * value of a key has a part of its own, and a reload gives it the next value. What core has is
 * compared with the settings of the file, row by row, as a plan does.
 */
#include <stdlib.h>

#include "config/capacity.h"
#include "config/plan_steps.h"
#include "unit/reload/in_force.h"

/* --- keys and their values ------------------------------------------------------------------- */

#define KEYS_MAX 64

/* One row of the language whose value is a field of the struct that core gets. */
struct key {
    uint32_t scope;                     /* enum language_scope; 0: of a dispatcher */
    const struct language_row *section; /* NULL: it is in none */
    const struct language_row *row;
};

struct keys {
    const struct language_row *table;
    size_t begin, end; /* of the struct that core gets, in that of the settings */
    struct key keys[KEYS_MAX];
    size_t count;
};

static void collect(struct keys *keys, uint32_t scope, const struct language_row *section,
                    const struct language_row *rows)
{
    for (const struct language_row *row = rows; row->option.name; row++) {
        size_t at = row->option.offset + (section ? section->option.offset : 0);

        if (!language_is_in(row, scope))
            continue;
        if (row->option.kind == LANGUAGE_SECTION) {
            collect(keys, scope, row, row->rows);
        } else if (at >= keys->begin && at < keys->end) {
            CU_ASSERT_FATAL(keys->count < KEYS_MAX);
            keys->keys[keys->count++] = (struct key){ scope, section, row };
        }
    }
}

static void collect_keys_of_pools(struct keys *keys)
{
    *keys = (struct keys){ .table = language_pool, .begin = offsetof(struct settings_pool, core) };
    keys->end = keys->begin + sizeof(struct pool_settings);
    collect(keys, LANGUAGE_OF_WORKERS, NULL, language_pool);
    collect(keys, LANGUAGE_OF_POOLS, NULL, language_pool);
}

static void collect_keys_of_dispatchers(struct keys *keys)
{
    *keys = (struct keys){ .table = language_dispatcher,
                           .begin = offsetof(struct settings_dispatcher, policy) };
    keys->end = keys->begin + sizeof(struct dispatcher_policy);
    collect(keys, 0, NULL, language_dispatcher);
}

/* NULL: the key has numbers as values. */
static const char *const *words_of(const struct key *key)
{
    static const char *const switched[] = { "false", "true", NULL };

    if (key->row->option.kind == WEIR_BOOL)
        return switched;
    return key->row->option.kind == LANGUAGE_CAPACITY ? capacity_words : key->row->option.choices;
}

/* A key with numbers has two values: none, so that its default is in force, and another one. */
static uint32_t count_of(const struct key *key)
{
    const char *const *words = words_of(key);
    uint32_t count = words ? 0 : 2;

    while (words && words[count])
        count++;
    CU_ASSERT(count > 1);
    return count;
}

/* So many that each part has each of its values. */
static uint32_t turns_of(const struct keys *keys)
{
    uint32_t most = 0;

    for (size_t k = 0; k < keys->count; k++)
        if (count_of(&keys->keys[k]) > most)
            most = count_of(&keys->keys[k]);
    return most;
}

/* Empty: the key is not written. */
static void value_of(const struct key *key, uint32_t number, char *text, size_t size)
{
    const struct weir_option *option = &key->row->option;
    intmax_t other = option->min + 1;
    bool pulls = key->scope == LANGUAGE_OF_POOLS && strcmp(option->name, "route") == 0 &&
                 number == WEIR_ROUTE_PULL; /* of pools of workers only */

    text[0] = '\0';
    if (words_of(key) && !pulls)
        (void)snprintf(text, size, "%s", words_of(key)[number]);
    else if (option->kind == LANGUAGE_RANGE && number == 1)
        (void)snprintf(text, size, "%jdms..%jdms", other, other + 1);
    else if (number == 1)
        (void)snprintf(text, size, "%jd%s", other, option->kind == WEIR_DURATION ? "ms" : "");
}

/* The key as a line of its part, with a comma. */
static void write_key(FILE *out, const struct key *key, uint32_t number)
{
    char value[64];

    value_of(key, number, value, sizeof value);
    if (!value[0])
        return;
    if (key->section && strcmp(key->row->option.name, "for") == 0) /* it needs another key */
        fprintf(out, "%s: {backoff: 1s..1m, %s: %s}, ", key->section->option.name,
                key->row->option.name, value);
    else if (key->section)
        fprintf(out, "%s: {%s: %s}, ", key->section->option.name, key->row->option.name, value);
    else
        fprintf(out, "%s: %s, ", key->row->option.name, value);
}

/* --- files and comparisons -------------------------------------------------------------------- */

static FILE *begin_text(char **text, size_t *size)
{
    FILE *out = open_memstream(text, size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fprintf(out, HEAD "}\n");
    return out;
}

static void finish_text(FILE *out, struct fixture *f, uint32_t turn, char **text)
{
    fclose(out);
    if (turn == 0)
        begin(f, *text);
    else
        reload_to(f, *text);
    free(*text);
}

static enum plan_kind any_kind(const char *field)
{
    (void)field;
    return PLAN_POOL_OTHER;
}

/* The number of rows in which two parts differ: those of `field`; NULL: all, which are printed. */
static size_t differences(const struct keys *keys, const struct key *key, const void *first,
                          const void *second, const char *field)
{
    struct plan plan = { 0 };
    struct planning planning = { .plan = &plan };
    struct plan_subject subject = { key->row->option.name, 0, 0 };
    struct plan_pair pair = { &subject, first, second, any_kind };
    size_t count = 0;

    text_store_init(&plan.store);
    text_store_init(&planning.scratch);
    plan_compare_rows(&planning, &pair, keys->table, key->scope);
    CU_ASSERT_FALSE(planning.failed);
    for (size_t i = 0; i < plan.count; i++)
        count += !field || strcmp(plan.steps[i].field, field) == 0;
    if (!field)
        for (size_t i = 0; i < plan.count; i++)
            printf("\nthe part for %s: %s in force %s, in the file %s\n", plan.steps[i].path,
                   plan.steps[i].field, plan.steps[i].old_text, plan.steps[i].new_text);
    free(plan.steps);
    text_store_finish(&planning.scratch);
    text_store_finish(&plan.store);
    return count;
}

static void name_field(const struct key *key, char *field, size_t size)
{
    (void)snprintf(field, size, "%s%s%s", key->section ? key->section->option.name : "",
                   key->section ? "." : "", key->row->option.name);
}

/* --- pools ------------------------------------------------------------------------------------ */

/* Pool K-V has the value number V + `turn` of key number K, round. */
static void run_pools(struct fixture *f, const struct keys *keys, uint32_t turn)
{
    size_t size;
    char *text;
    FILE *out = begin_text(&text, &size);

    fprintf(out, "pools:\n");
    for (size_t k = 0; k < keys->count; k++)
        for (uint32_t i = 0, count = count_of(&keys->keys[k]); i < count; i++) {
            fprintf(out, "  p%zu-%u: {", k, i);
            write_key(out, &keys->keys[k], (i + turn) % count);
            fprintf(out, "%s}\n",
                    keys->keys[k].scope == LANGUAGE_OF_POOLS
                        ? "members: {m: {use: changeling.worker, size: 1}}"
                        : "use: changeling.worker, size: {min: 1, max: 3}");
        }
    finish_text(out, f, turn, &text);
}

/* As the file has it, with the value of the pool in its place. */
static struct settings_pool in_force(struct pool *pool, const struct settings_pool *written)
{
    struct settings_pool result = *written;

    lock_acquire(&pool->lock);
    result.core = pool->settings;
    result.core.route = flags_route(&pool->flags); /* which senders read */
    if (pool->spec) {                              /* which workers read */
        result.core.restart = pool->spec->restart;
        result.core.retry = pool->spec->retry;
    }
    lock_release(&pool->lock);
    return result;
}

static const struct settings_pool *written_pool(struct fixture *f, size_t key, uint32_t number)
{
    const struct settings *settings = f->hosted.assembly.shared->settings;
    char path[32];

    (void)snprintf(path, sizeof path, "p%zu-%u", key, number);
    return &settings->pools[settings_find_pool(settings, path)];
}

/* Each value is in force, and the file has another one for the next pool. */
static void expect_pools(struct fixture *f, const struct keys *keys)
{
    for (size_t k = 0; k < keys->count; k++) {
        const struct key *key = &keys->keys[k];
        uint32_t count = count_of(key);
        char field[64];

        name_field(key, field, sizeof field);
        for (uint32_t i = 0; i < count; i++) {
            const struct settings_pool *written = written_pool(f, k, i);
            struct settings_pool found = in_force(hosted_pool(&f->hosted, written->path), written);

            CU_ASSERT_EQUAL(differences(keys, key, &found, written, NULL), 0);
            CU_ASSERT_EQUAL(found.core.scale.on, written->core.scale.on);
            CU_ASSERT_EQUAL(found.core.lease.on, written->core.lease.on);
            CU_ASSERT_EQUAL(
                differences(keys, key, written, written_pool(f, k, (i + 1) % count), field), 1);
        }
    }
}

/* promises C12 and R3 */
static void test_each_key_of_a_pool_is_in_force(void)
{
    struct fixture f;
    struct keys keys;

    collect_keys_of_pools(&keys);
    for (uint32_t turn = 0; turn <= turns_of(&keys); turn++) {
        run_pools(&f, &keys, turn);
        expect_pools(&f, &keys);
    }
    finish(&f);
}

/* --- dispatchers ------------------------------------------------------------------------------ */

/* Dispatcher K-V has the value number V + `turn` of key number K, round; so has one that is new in
 * each turn, and takes the place of a retired one. */
static void name_dispatcher(char *name, size_t size, size_t key, uint32_t number, uint32_t turn)
{
    if (turn == UINT32_MAX)
        (void)snprintf(name, size, "d%zu-%u", key, number);
    else
        (void)snprintf(name, size, "d%zu-%u-%u", key, number, turn);
}

static void run_dispatchers(struct fixture *f, const struct keys *keys, uint32_t turn)
{
    const uint32_t turns[] = { UINT32_MAX, turn };
    size_t size;
    char *text;
    FILE *out = begin_text(&text, &size);

    fprintf(out, "pools: {p: {use: changeling.worker, size: 1}}\ndispatchers:\n");
    for (size_t k = 0; k < keys->count; k++)
        for (uint32_t i = 0, count = count_of(&keys->keys[k]); i < 2 * count; i++) {
            char name[48];

            name_dispatcher(name, sizeof name, k, i / 2, turns[i % 2]);
            fprintf(out, "  %s: {", name);
            write_key(out, &keys->keys[k], (i / 2 + turn) % count);
            fprintf(out, "threads: 1}\n");
        }
    finish_text(out, f, turn, &text);
}

static void expect_dispatcher(struct fixture *f, const struct keys *keys, const struct key *key,
                              const char *name)
{
    const struct settings *settings = f->hosted.assembly.shared->settings;
    const struct settings_dispatcher
        *written = &settings->dispatchers[settings_find_dispatcher(settings, name)];
    struct dispatcher *dispatcher = runtime_find_dispatcher(f->hosted.runtime, name);
    struct settings_dispatcher found = *written;

    CU_ASSERT_PTR_NOT_NULL_FATAL(dispatcher);
    found.policy = dispatcher_policy_of(dispatcher);
    CU_ASSERT_EQUAL(differences(keys, key, &found, written, NULL), 0);
}

static void expect_dispatchers(struct fixture *f, const struct keys *keys, uint32_t turn)
{
    const struct settings *settings = f->hosted.assembly.shared->settings;

    for (size_t k = 0; k < keys->count; k++) {
        const struct settings_dispatcher *pair[2];
        char name[48], field[64];

        for (uint32_t i = 0; i < count_of(&keys->keys[k]); i++) {
            name_dispatcher(name, sizeof name, k, i, turn);
            expect_dispatcher(f, keys, &keys->keys[k], name);
            name_dispatcher(name, sizeof name, k, i, UINT32_MAX);
            expect_dispatcher(f, keys, &keys->keys[k], name);
            pair[i % 2] = &settings->dispatchers[settings_find_dispatcher(settings, name)];
        }
        name_field(&keys->keys[k], field, sizeof field);
        CU_ASSERT_EQUAL(differences(keys, &keys->keys[k], pair[0], pair[1], field), 1);
    }
}

/* promises C12 and R3 */
static void test_each_key_of_a_dispatcher_is_in_force(void)
{
    struct fixture f;
    struct keys keys;

    collect_keys_of_dispatchers(&keys);
    CU_ASSERT(keys.count > 0);
    for (uint32_t turn = 0; turn <= turns_of(&keys); turn++) {
        run_dispatchers(&f, &keys, turn);
        expect_dispatchers(&f, &keys, turn);
    }
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "each key of a pool", test_each_key_of_a_pool_is_in_force },
        { "each key of a dispatcher", test_each_key_of_a_dispatcher_is_in_force },
        CU_TEST_INFO_NULL,
    };

    return suite_run("keys in force", tests);
}

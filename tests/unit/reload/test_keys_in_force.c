/*
 * Goal: each value of each key of a pool that core has is in force from the start on, after a
 * reload that changes it, and after one that leaves the key out. Shows promise C12.
 *
 * Method: the keys come from the tables of the language, so a new key needs no line here. Each
 * value of a key has a pool of its own, and a reload gives it the next value. What core has is
 * compared with the settings of the file, row by row, as a plan does.
 */
#include <stdlib.h>

#include "config/capacity.h"
#include "config/plan_steps.h"
#include "unit/reload/in_force.h"

/* --- each key that core has ------------------------------------------------------------------- */

#define KEYS_MAX 64
#define TURNS 6 /* as many as a key has values, at most */

/* One row of the language whose value is a field of struct pool_settings. */
struct key {
    uint32_t scope;                     /* enum language_scope */
    const struct language_row *section; /* NULL: it is in none */
    const struct language_row *row;
};

struct keys {
    struct key keys[KEYS_MAX];
    size_t count;
};

static void collect(struct keys *keys, uint32_t scope, const struct language_row *section,
                    const struct language_row *rows)
{
    size_t begin = offsetof(struct settings_pool, core);

    for (const struct language_row *row = rows; row->option.name; row++) {
        size_t at = row->option.offset + (section ? section->option.offset : 0);

        if (!language_is_in(row, scope))
            continue;
        if (row->option.kind == LANGUAGE_SECTION) {
            collect(keys, scope, row, row->rows);
        } else if (at >= begin && at < begin + sizeof(struct pool_settings)) {
            CU_ASSERT_FATAL(keys->count < KEYS_MAX);
            keys->keys[keys->count++] = (struct key){ scope, section, row };
        }
    }
}

static void collect_all(struct keys *keys)
{
    keys->count = 0;
    collect(keys, LANGUAGE_OF_WORKERS, NULL, language_pool);
    collect(keys, LANGUAGE_OF_POOLS, NULL, language_pool);
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
    CU_ASSERT(count > 1 && count <= TURNS);
    return count;
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

/* The key as a line of a pool, with a comma. */
static void write_key(FILE *out, const struct key *key, uint32_t number)
{
    char value[64];

    value_of(key, number, value, sizeof value);
    if (!value[0])
        return;
    if (key->section)
        fprintf(out, "%s: {%s: %s}, ", key->section->option.name, key->row->option.name, value);
    else
        fprintf(out, "%s: %s, ", key->row->option.name, value);
}

/* Pool K-V has the value number V + `turn` of key number K, round. */
static char *write_keys(const struct keys *keys, uint32_t turn)
{
    size_t size;
    char *text;
    FILE *out = open_memstream(&text, &size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fprintf(out, HEAD "}\npools:\n");
    for (size_t k = 0; k < keys->count; k++)
        for (uint32_t i = 0, count = count_of(&keys->keys[k]); i < count; i++) {
            fprintf(out, "  p%zu-%u: {", k, i);
            write_key(out, &keys->keys[k], (i + turn) % count);
            fprintf(out, "%s}\n",
                    keys->keys[k].scope == LANGUAGE_OF_POOLS
                        ? "members: {m: {use: changeling.worker, size: 1}}"
                        : "use: changeling.worker, size: {min: 1, max: 3}");
        }
    fclose(out);
    return text;
}

static enum plan_kind any_kind(const char *field)
{
    (void)field;
    return PLAN_POOL_OTHER;
}

/* The number of rows in which two pools differ; of the steps about `field`, unless it is NULL. */
static size_t differences(const struct settings_pool *first, const struct settings_pool *second,
                          uint32_t scope, const char *field)
{
    struct plan plan = { 0 };
    struct planning planning = { .plan = &plan };
    struct plan_subject subject = { second->path, 0, 0 };
    struct plan_pair pair = { &subject, first, second, any_kind };
    size_t count = 0;

    text_store_init(&plan.store);
    text_store_init(&planning.scratch);
    plan_compare_rows(&planning, &pair, language_pool, scope);
    CU_ASSERT_FALSE(planning.failed);
    for (size_t i = 0; i < plan.count; i++)
        count += !field || strcmp(plan.steps[i].field, field) == 0;
    if (!field)
        for (size_t i = 0; i < plan.count; i++)
            printf("\n%s.%s: in force %s, in the file %s\n", plan.steps[i].path,
                   plan.steps[i].field, plan.steps[i].old_text, plan.steps[i].new_text);
    free(plan.steps);
    text_store_finish(&planning.scratch);
    text_store_finish(&plan.store);
    return count;
}

/* As the file has it, with what the pool has in place of it. */
static struct settings_pool in_force(struct pool *pool, const struct settings_pool *written)
{
    struct settings_pool result = *written;

    pthread_mutex_lock(&pool->lock);
    result.core = pool->settings;
    result.core.route = atomic_load(&pool->route); /* which senders read */
    if (pool->spec)
        result.core.restart = pool->spec->restart; /* which workers read */
    pthread_mutex_unlock(&pool->lock);
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
static void expect_keys(struct fixture *f, const struct keys *keys)
{
    for (size_t k = 0; k < keys->count; k++) {
        const struct key *key = &keys->keys[k];
        uint32_t count = count_of(key);
        char field[64];

        (void)snprintf(field, sizeof field, "%s%s%s", key->section ? key->section->option.name : "",
                       key->section ? "." : "", key->row->option.name);
        for (uint32_t i = 0; i < count; i++) {
            const struct settings_pool *written = written_pool(f, k, i);
            struct settings_pool found = in_force(hosted_pool(&f->hosted, written->path), written);

            CU_ASSERT_EQUAL(differences(&found, written, key->scope, NULL), 0);
            CU_ASSERT_EQUAL(found.core.scale.on, written->core.scale.on);
            CU_ASSERT_EQUAL(found.core.lease.on, written->core.lease.on);
            CU_ASSERT_EQUAL(
                differences(written, written_pool(f, k, (i + 1) % count), key->scope, field), 1);
        }
    }
}

/* promises C12 and R3 */
static void test_each_key_is_in_force(void)
{
    struct fixture f;
    struct keys keys;

    collect_all(&keys);
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        char *text = write_keys(&keys, turn);

        if (turn == 0)
            begin(&f, text);
        else
            reload_to(&f, text);
        expect_keys(&f, &keys);
        free(text);
    }
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "each key of a pool", test_each_key_is_in_force },
        CU_TEST_INFO_NULL,
    };

    return suite_run("keys in force", tests);
}

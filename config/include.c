/* SPDX-License-Identifier: MIT */
#include "config/include.h"

#include <stdlib.h>
#include <string.h>

#include "config/language.h"
#include "config/pattern.h"

#define FILES_MAX 10000 /* of all patterns: as many as there may be pools */

/* --- which files ------------------------------------------------------------------------------ */

static char *beside(const char *file, const char *pattern)
{
    const char *slash = strrchr(file, '/');
    char *path = NULL;

    if (pattern[0] == '/' || !slash)
        return strdup(pattern);
    if (asprintf(&path, "%.*s/%s", (int)(slash - file), file, pattern) < 0)
        return NULL;
    return path;
}

static int add_file(struct include_list *list, const char *file)
{
    char **files = realloc(list->files, (list->count + 1) * sizeof *files);

    if (!files)
        return WEIR_ENOMEM;
    list->files = files;
    files[list->count] = strdup(file);
    if (!files[list->count])
        return WEIR_ENOMEM;
    list->count++;
    return WEIR_OK;
}

static int add_matches(struct include_list *list, const struct pattern_matches *matches,
                       const struct config_node *pattern, struct report *report)
{
    int status = WEIR_OK;

    for (size_t i = 0; i < matches->count && status == WEIR_OK; i++) {
        if (list->count == FILES_MAX) {
            report_add(report, &pattern->mark, "include", "names more than %d files", FILES_MAX);
            return WEIR_EINVALID;
        }
        status = add_file(list, matches->paths[i]);
    }
    return status;
}

/* Reports a pattern without a match: a misspelt folder would silently leave out pools.
 * WEIR_EUNKNOWN. */
static int no_match(const struct config_node *pattern, struct report *report)
{
    report_add(report, &pattern->mark, "include", "there is no file \"%.256s\"", pattern->text);
    return WEIR_EUNKNOWN;
}

/* A folder that cannot be read has not lost its pools. WEIR_EUNKNOWN. */
static int unread(const struct pattern_matches *matches, const struct config_node *pattern,
                  struct report *report)
{
    report_add(report, &pattern->mark, "include",
               "\"%.256s\" needs %.256s, which cannot be read: %s", pattern->text, matches->unread,
               strerror(matches->error));
    return WEIR_EUNKNOWN;
}

/* The search for the files of one `include`. */
struct finding {
    const char *file; /* the including file */
    struct config_files *files;
    struct report *report;
    uint32_t looks; /* remaining */
};

static int find_pattern(struct include_list *list, struct finding *finding,
                        const struct config_node *pattern)
{
    struct report *report = finding->report;
    struct pattern_matches matches;
    char *path;
    int status;

    if (pattern->kind != CONFIG_SCALAR || pattern->null) {
        report_add(report, &pattern->mark, "include", "must be a list of file names or patterns");
        return WEIR_EINVALID;
    }
    path = beside(finding->file, pattern->text);
    if (!path)
        return WEIR_ENOMEM;
    config_files_add(finding->files, path, true);
    status = pattern_find(path, &finding->looks, &matches);
    free(path);
    if (status == WEIR_EINVALID)
        report_add(report, &pattern->mark, "include", "looks at more than %u names of files",
                   PATTERN_LOOKS_MAX);
    if (status != WEIR_OK)
        return status;
    if (matches.unread)
        status = unread(&matches, pattern, report);
    else
        status = matches.count ? add_matches(list, &matches, pattern, report)
                               : no_match(pattern, report);
    pattern_finish(&matches);
    return status;
}

int include_find(const char *file, const struct config_node *patterns, struct config_files *files,
                 struct report *report, struct include_list *out)
{
    struct include_list list = { NULL, 0 };
    struct finding finding = { file, files, report, PATTERN_LOOKS_MAX };
    int status = WEIR_OK;

    if (patterns->kind != CONFIG_LIST) {
        report_add(report, &patterns->mark, "include", "must be a list of file names or patterns");
        return WEIR_EINVALID;
    }
    /* Reports all missing files at once, as many as fit into the message. */
    for (uint32_t i = 0; i < patterns->count; i++) {
        int found = find_pattern(&list, &finding, patterns->pairs[i].value);

        status = found == WEIR_OK ? status : found;
        if (status != WEIR_OK && (status != WEIR_EUNKNOWN || report_is_full(report)))
            break;
    }
    if (status == WEIR_EUNKNOWN)
        status = WEIR_EINVALID;
    if (status == WEIR_OK)
        *out = list;
    else
        include_finish(&list);
    return status;
}

void include_finish(struct include_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->files[i]);
    free(list->files);
    *list = (struct include_list){ NULL, 0 };
}

/* --- their keys ------------------------------------------------------------------------------- */

/* A map that grows. Its pairs are in the tree's memory, with spare room. */
struct include_map {
    struct config_node *map;
    uint32_t capacity;
};

void include_merging_init(struct include_merging *merging, struct config_tree *tree,
                          struct report *report)
{
    *merging = (struct include_merging){ .tree = tree, .report = report };
    key_index_init(&merging->keys);
}

void include_merging_finish(struct include_merging *merging)
{
    key_index_finish(&merging->keys);
    free(merging->maps);
}

static int set_twice(const struct include_merging *merging, const struct config_node *key,
                     const struct config_node *earlier)
{
    char path[256];

    (void)snprintf(path, sizeof path, "%s%s%s", merging->section ? merging->section : "",
                   merging->section ? "." : "", key->text);
    report_add(merging->report, &key->mark, path, "is set twice, first in %s:%u:%u",
               earlier->mark.file, earlier->mark.line, earlier->mark.column);
    return WEIR_EINVALID;
}

static bool holds_names(const char *key)
{
    static const char *const sections[] = { "host", "dispatchers", "sources", "pools" };

    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        if (strcmp(sections[i], key) == 0)
            return true;
    }
    return false;
}

/* Indexes a key of any map. For a section of the root it indexes the value, too, with the merging
 * as owner. */
static int index_pair(struct include_merging *merging, struct config_node *map,
                      const struct config_pair *pair, void **out_earlier)
{
    int status = key_index_add(&merging->keys, map, pair->key->text, pair->key, out_earlier);

    if (status == WEIR_OK && !*out_earlier && map == merging->tree->root &&
        holds_names(pair->key->text))
        status = key_index_put(&merging->keys, merging, pair->key->text, pair->value);
    return status;
}

/* Adds the pairs of `added` to `map`, whose array has room for them. Refuses a key that is set
 * already. */
static int append_pairs(struct include_merging *merging, struct config_node *map,
                        const struct config_node *added)
{
    int result = WEIR_OK;

    for (uint32_t i = 0; i < added->count; i++) {
        void *earlier = NULL;

        if (index_pair(merging, map, &added->pairs[i], &earlier) != WEIR_OK)
            return WEIR_ENOMEM;
        if (earlier)
            result = set_twice(merging, added->pairs[i].key, earlier);
        else
            map->pairs[map->count++] = added->pairs[i];
    }
    map->height = map->height > added->height ? map->height : added->height;
    return result;
}

/* The map's entry, created on the first addition. NULL when memory is out. */
static struct include_map *find_map(struct include_merging *merging, struct config_node *map)
{
    struct include_map *maps = merging->maps;

    for (size_t i = 0; i < merging->map_count; i++) {
        if (maps[i].map == map)
            return &maps[i];
    }
    maps = realloc(maps, (merging->map_count + 1) * sizeof *maps);
    if (!maps)
        return NULL;
    merging->maps = maps;
    maps[merging->map_count] = (struct include_map){ map, map->count };
    for (uint32_t i = 0; i < map->count; i++) {
        void *earlier = NULL;

        if (index_pair(merging, map, &map->pairs[i], &earlier) != WEIR_OK)
            return NULL;
    }
    return &maps[merging->map_count++];
}

/* Adds to `map` in place: it belongs to this tree. The room doubles, so a thousand files stay
 * cheap. */
static int append_map(struct include_merging *merging, struct config_node *map,
                      const struct config_node *added)
{
    struct include_map *grown = find_map(merging, map);
    uint32_t needed = map->count + added->count;
    struct config_pair *pairs;

    if (!grown)
        return WEIR_ENOMEM;
    if (needed > grown->capacity) {
        grown->capacity = needed > grown->capacity * 2 ? needed : grown->capacity * 2;
        pairs = text_store_take_array(&merging->tree->store, grown->capacity, sizeof *pairs);
        if (!pairs)
            return WEIR_ENOMEM;
        if (map->count)
            memcpy(pairs, map->pairs, map->count * sizeof *pairs);
        map->pairs = pairs;
    }
    return append_pairs(merging, map, added);
}

/* Merges one key of an included file. */
static int merge_pair(struct include_merging *merging, const struct config_pair *pair,
                      struct config_node *top)
{
    const char *key = pair->key->text;
    struct config_node *present = key_index_find(&merging->keys, merging, key);
    int status;

    if (strcmp(key, "include") == 0) {
        report_add(merging->report, &pair->key->mark, "include",
                   "an included file cannot include others");
        return WEIR_EINVALID;
    }
    if (strcmp(key, "version") == 0 &&
        key_index_find(&merging->keys, merging->tree->root, "version"))
        return WEIR_OK;
    if (!present || present->kind != CONFIG_MAP || pair->value->kind != CONFIG_MAP) {
        top->pairs[top->count++] = *pair;
        return WEIR_OK;
    }
    merging->section = key;
    status = append_map(merging, present, pair->value);
    merging->section = NULL;
    return status;
}

static int merge(struct include_merging *merging, const struct config_node *added)
{
    struct config_tree *tree = merging->tree;
    struct config_node top = { .kind = CONFIG_MAP, .height = added->height };
    int result = find_map(merging, tree->root) ? WEIR_OK : WEIR_ENOMEM;
    int status;

    top.pairs = text_store_take_array(&tree->store, added->count, sizeof *top.pairs);
    if (!top.pairs)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < added->count && result != WEIR_ENOMEM; i++) {
        status = merge_pair(merging, &added->pairs[i], &top);
        if (status != WEIR_OK)
            result = status;
    }
    if (result == WEIR_ENOMEM)
        return result;
    status = append_map(merging, tree->root, &top);
    return status == WEIR_OK ? result : status;
}

static bool is_near_a_key(const char *word)
{
    struct text_guess guess;

    text_guess_init(&guess, word);
    for (const struct language_row *row = language_top; row->option.name; row++)
        text_guess_offer(&guess, row->option.name);
    return text_guess_best(&guess) != NULL;
}

/* Refuses a file that is no configuration without printing its text: it may be a list of
 * passwords. */
static int check_keys(const struct include_merging *merging, const struct config_node *added)
{
    for (uint32_t i = 0; i < added->count; i++) {
        const struct config_node *key = added->pairs[i].key;

        if (language_find(language_top, key->text) || strncmp(key->text, "x-", 2) == 0 ||
            is_near_a_key(key->text))
            continue;
        report_add(merging->report, &key->mark, NULL,
                   "has a key here that no configuration has; is this a file to include?");
        return WEIR_EINVALID;
    }
    return WEIR_OK;
}

int include_merge(struct include_merging *merging, const struct config_node *added)
{
    if (check_keys(merging, added) != WEIR_OK)
        return WEIR_EINVALID;
    return merge(merging, added);
}

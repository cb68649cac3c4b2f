#include "config/include.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "config/key_index.h"

#define FILES_MAX 1000 /* of all patterns: far past what anybody keeps apart */

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

static int add_matches(struct include_list *list, const glob_t *matches,
                       const struct config_node *pattern, struct report *report)
{
    int status = WEIR_OK;

    for (size_t i = 0; i < matches->gl_pathc && status == WEIR_OK; i++) {
        if (list->count == FILES_MAX) {
            report_add(report, &pattern->mark, "include", "names more than %d files", FILES_MAX);
            return WEIR_EINVALID;
        }
        status = add_file(list, matches->gl_pathv[i]);
    }
    return status;
}

/* A pattern may match nothing (an empty conf.d); a plain name must be there. */
static int no_match(const struct config_node *pattern, struct report *report)
{
    if (strpbrk(pattern->text, "*?["))
        return WEIR_OK;
    report_add(report, &pattern->mark, "include", "there is no file \"%.256s\"", pattern->text);
    return WEIR_EINVALID;
}

/* Looking for the files of one `include`. */
struct finding {
    const char *file; /* that has it */
    struct config_files *files;
    struct report *report;
};

static int find_pattern(struct include_list *list, const struct finding *finding,
                        const struct config_node *pattern)
{
    struct report *report = finding->report;
    glob_t matches;
    char *path;
    int found;
    int status;

    if (pattern->kind != CONFIG_SCALAR || pattern->null) {
        report_add(report, &pattern->mark, "include", "must be a list of file names or patterns");
        return WEIR_EINVALID;
    }
    path = beside(finding->file, pattern->text);
    if (!path)
        return WEIR_ENOMEM;
    config_files_add(finding->files, path, true);
    memset(&matches, 0, sizeof matches);
    found = glob(path, 0, NULL, &matches);
    free(path);
    if (found == 0)
        status = add_matches(list, &matches, pattern, report);
    else
        status = found == GLOB_NOSPACE ? WEIR_ENOMEM : no_match(pattern, report);
    globfree(&matches);
    return status;
}

int include_find(const char *file, const struct config_node *patterns, struct config_files *files,
                 struct report *report, struct include_list *out)
{
    struct include_list list = { NULL, 0 };
    struct finding finding = { file, files, report };
    int status = WEIR_OK;

    if (patterns->kind != CONFIG_LIST) {
        report_add(report, &patterns->mark, "include", "must be a list of file names or patterns");
        return WEIR_EINVALID;
    }
    for (uint32_t i = 0; i < patterns->count && status == WEIR_OK; i++)
        status = find_pattern(&list, &finding, patterns->pairs[i].value);
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

struct merging {
    struct config_tree *tree;
    struct report *report;
    const char *section; /* NULL at the top */
};

static int set_twice(const struct merging *merging, const struct config_node *key,
                     const struct config_node *earlier)
{
    char path[256];

    (void)snprintf(path, sizeof path, "%s%s%s", merging->section ? merging->section : "",
                   merging->section ? "." : "", key->text);
    report_add(merging->report, &key->mark, path, "is set twice, first in %s:%u:%u",
               earlier->mark.file, earlier->mark.line, earlier->mark.column);
    return WEIR_EINVALID;
}

/* Adds the pairs of `added` to `map`, whose array has room for them. Refuses what is there. */
static int append_pairs(const struct merging *merging, struct config_node *map,
                        const struct config_node *added, struct key_index *index)
{
    int result = WEIR_OK;

    for (uint32_t i = 0; i < added->count; i++) {
        const struct config_node *key = added->pairs[i].key;
        const struct config_node *earlier = key_index_find(index, map, key->text);

        if (earlier)
            result = set_twice(merging, key, earlier);
        else
            map->pairs[map->count++] = added->pairs[i];
    }
    map->height = map->height > added->height ? map->height : added->height;
    return result;
}

static int index_pairs(struct key_index *index, const struct config_node *map)
{
    int status = WEIR_OK;

    for (uint32_t i = 0; i < map->count && status == WEIR_OK; i++)
        status = key_index_put(index, map, map->pairs[i].key->text, map->pairs[i].key);
    return status;
}

/* `map` grows in place: it is this tree's own. */
static int append_map(const struct merging *merging, struct config_node *map,
                      const struct config_node *added)
{
    struct config_pair *pairs = text_store_take_array(
        &merging->tree->store, (size_t)map->count + added->count, sizeof *pairs);
    struct key_index index;
    int status;

    if (!pairs)
        return WEIR_ENOMEM;
    if (map->count)
        memcpy(pairs, map->pairs, map->count * sizeof *pairs);
    map->pairs = pairs;
    key_index_init(&index);
    status = index_pairs(&index, map);
    if (status == WEIR_OK)
        status = append_pairs(merging, map, added, &index);
    key_index_finish(&index);
    return status;
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

/* One key of an included file. */
static int merge_pair(struct merging *merging, const struct config_pair *pair,
                      struct config_node *top)
{
    const struct config_pair *present = config_find_pair(merging->tree->root, pair->key->text);
    int status;

    if (strcmp(pair->key->text, "include") == 0) {
        report_add(merging->report, &pair->key->mark, "include",
                   "an included file cannot include others");
        return WEIR_EINVALID;
    }
    if (strcmp(pair->key->text, "version") == 0 && present)
        return WEIR_OK;
    if (!present || !holds_names(pair->key->text) || present->value->kind != CONFIG_MAP ||
        pair->value->kind != CONFIG_MAP) {
        top->pairs[top->count++] = *pair;
        return WEIR_OK;
    }
    merging->section = pair->key->text;
    status = append_map(merging, present->value, pair->value);
    merging->section = NULL;
    return status;
}

int include_merge(struct config_tree *tree, const struct config_node *added, struct report *report)
{
    struct merging merging = { tree, report, NULL };
    struct config_node top = { .kind = CONFIG_MAP, .height = added->height };
    int result = WEIR_OK;

    top.pairs = text_store_take_array(&tree->store, added->count, sizeof *top.pairs);
    if (!top.pairs)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < added->count && result != WEIR_ENOMEM; i++) {
        int status = merge_pair(&merging, &added->pairs[i], &top);

        if (status != WEIR_OK)
            result = status;
    }
    if (result == WEIR_ENOMEM)
        return result;
    if (append_map(&merging, tree->root, &top) != WEIR_OK)
        return WEIR_EINVALID;
    return result;
}

/* SPDX-License-Identifier: MIT */
#include "config/substitute.h"

#include <stdlib.h>
#include <string.h>

#include "config/encoding.h"
#include "config/file.h"

#define PATH_SIZE 512          /* of a key's path in a message; a longer one is truncated */
#define NAME_SIZE 128          /* of a variable */
#define REFERENCES_MAX 100000u /* of `${` in all files: one for each value */
#define FILES_MAX 1000u        /* whose contents are values; each is read */
#define SECRET_SIZE_MAX ((size_t)64 << 10) /* of a file of secrets: a key or a certificate */

/* --- one value -------------------------------------------------------------------------------- */

struct replacing {
    struct config_tree *tree;
    const struct config_source *source;
    struct substitute_use *use;
    struct report *report;
    struct config_node *node; /* the value */
    const char *path;
    FILE *stream; /* gets the text after substitution */
};

WEIR_PRINTF(2, 3)
static int refuse(const struct replacing *replacing, const char *format, ...)
{
    char reason[512];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    report_add(replacing->report, &replacing->node->mark, replacing->path, "%s", reason);
    return WEIR_EINVALID;
}

static int put(const struct replacing *replacing, const char *text, size_t size)
{
    if (size > replacing->source->limits.bytes - replacing->use->bytes)
        return refuse(replacing, "makes the values of the file too long");
    replacing->use->bytes += size;
    return fwrite(text, 1, size, replacing->stream) == size ? WEIR_OK : WEIR_ENOMEM;
}

static int put_file(const struct replacing *replacing, const char *file)
{
    char why[160];
    char *text = NULL;
    size_t size = 0;
    int status;

    if (file[0] != '/')
        return refuse(replacing, "${file:...} needs an absolute path, got \"%.128s\"", file);
    if (replacing->use->files == FILES_MAX)
        return refuse(replacing, "takes more than %u values from files", FILES_MAX);
    replacing->use->files++;
    config_files_add(replacing->source->files, file, false);
    status = file_read(file, SECRET_SIZE_MAX, &text, &size, why, sizeof why);
    if (status == WEIR_ENOMEM)
        return status;
    if (status != WEIR_OK)
        return refuse(replacing, "${file:%.128s} %s", file, why);
    size -= size && text[size - 1] == '\n';
    replacing->node->secret = true;
    if (encoding_problem(text, size))
        status = refuse(replacing, "${file:%.128s} %s", file, encoding_problem(text, size));
    else if (report_hide(replacing->report, text, size) != WEIR_OK)
        status = WEIR_ENOMEM;
    else
        status = put(replacing, text, size);
    explicit_bzero(text, size);
    free(text);
    return status;
}

static const char *variable_of(const struct config_source *source, const char *name)
{
    return source->variable ? source->variable(source->context, name) : getenv(name);
}

static bool is_name(const char *text, size_t size)
{
    size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");

    return size > 0 && size < NAME_SIZE && length >= size && (text[0] < '0' || text[0] > '9');
}

/* Reads the `size` letters between `${` and `}`: a name, and perhaps `:-` and a default. */
static int put_variable(const struct replacing *replacing, const char *text, size_t size)
{
    const char *mark = memmem(text, size, ":-", 2);
    size_t length = mark ? (size_t)(mark - text) : size;
    char name[NAME_SIZE];
    const char *value;

    if (!is_name(text, length))
        return refuse(replacing, "\"${%.*s}\" is no ${NAME}, ${NAME:-default} or ${file:/path}",
                      (int)(size < 64 ? size : 64), text);
    memcpy(name, text, length);
    name[length] = '\0';
    value = variable_of(replacing->source, name);
    if (value && (value[0] || !mark)) {
        if (encoding_problem(value, strlen(value)))
            return refuse(replacing, "${%s} %s", name, encoding_problem(value, strlen(value)));
        return put(replacing, value, strlen(value));
    }
    if (mark)
        return put(replacing, mark + 2, size - length - 2);
    return refuse(replacing, "${%s} is not set and has no default", name);
}

static int put_reference(const struct replacing *replacing, const char *text, size_t size)
{
    static const char file_word[] = "file:";
    size_t word_size = sizeof file_word - 1;
    char *file;
    int status;

    if (size < word_size || memcmp(text, file_word, word_size) != 0)
        return put_variable(replacing, text, size);
    file = strndup(text + word_size, size - word_size);
    status = file ? put_file(replacing, file) : WEIR_ENOMEM;
    free(file);
    return status;
}

/* Writes the text up to the next `${` and the value of that reference; moves `*text` past both. */
static int put_part(const struct replacing *replacing, const char **text)
{
    const char *start = strstr(*text, "${");
    const char *end;
    int status;

    if (!start) {
        status = put(replacing, *text, strlen(*text));
        *text += strlen(*text);
        return status;
    }
    if (replacing->use->references == REFERENCES_MAX)
        return refuse(replacing, "has more than %u times \"${\" in it and before", REFERENCES_MAX);
    replacing->use->references++;
    if (start > *text && start[-1] == '$') {
        status = put(replacing, *text, (size_t)(start - *text) - 1);
        *text = start + 2;
        return status == WEIR_OK ? put(replacing, start, 2) : status;
    }
    end = strchr(start, '}');
    if (!end)
        return refuse(replacing, "\"${\" is not closed by \"}\"");
    status = put(replacing, *text, (size_t)(start - *text));
    *text = end + 1;
    return status == WEIR_OK ? put_reference(replacing, start + 2, (size_t)(end - start) - 2)
                             : status;
}

static int replace_text(struct replacing *replacing)
{
    const char *text = replacing->node->text;
    char *made = NULL;
    size_t size = 0;
    int status = WEIR_OK;

    replacing->stream = open_memstream(&made, &size);
    if (!replacing->stream)
        return WEIR_ENOMEM;
    while (*text && status == WEIR_OK)
        status = put_part(replacing, &text);
    if (fclose(replacing->stream) != 0 && status == WEIR_OK)
        status = WEIR_ENOMEM;
    if (status == WEIR_OK) {
        replacing->node->text = text_store_copy_size(&replacing->tree->store, made, size);
        replacing->node->null = false;
        if (!replacing->node->text)
            status = WEIR_ENOMEM;
    }
    if (replacing->node->secret && made)
        explicit_bzero(made, size);
    free(made);
    return status;
}

/* --- all values ------------------------------------------------------------------------------- */

struct level {
    struct config_node *node;
    uint32_t next; /* the pair that comes next */
};

/* A depth-first walk through the tree with an explicit stack; the limit of nesting bounds it. */
struct walk {
    struct level *levels;
    uint32_t depth;
};

static void path_of(const struct walk *walk, char *path)
{
    size_t used = 0;

    path[0] = '\0';
    for (uint32_t i = 0; i < walk->depth && used < PATH_SIZE; i++) {
        const struct level *level = &walk->levels[i];
        const struct config_node *key = level->node->pairs[level->next - 1].key;
        int length = key ? snprintf(path + used, PATH_SIZE - used, "%s%s", used ? "." : "",
                                    key->text)
                         : snprintf(path + used, PATH_SIZE - used, "[%u]", level->next - 1);

        used += length < 0 ? 0 : (size_t)length;
    }
}

static int replace_node(struct replacing *replacing, const struct walk *walk,
                        struct config_node *node)
{
    char path[PATH_SIZE];
    int status;

    if (!strstr(node->text, "${"))
        return WEIR_OK;
    path_of(walk, path);
    replacing->node = node;
    replacing->path = path;
    status = replace_text(replacing);
    replacing->path = NULL;
    return status;
}

/* Takes one step. A node with several places is entered at the first only. */
static int step(struct replacing *replacing, struct walk *walk)
{
    struct level *level = &walk->levels[walk->depth - 1];
    struct config_node *node;

    if (level->next == level->node->count) {
        walk->depth--;
        return WEIR_OK;
    }
    node = level->node->pairs[level->next++].value;
    if (node->substituted)
        return WEIR_OK;
    node->substituted = true;
    if (node->kind == CONFIG_SCALAR)
        return replace_node(replacing, walk, node);
    walk->levels[walk->depth++] = (struct level){ node, 0 };
    return WEIR_OK;
}

int substitute_values(struct config_tree *tree, struct config_node *root,
                      const struct config_source *source, struct substitute_use *use,
                      struct report *report)
{
    struct replacing replacing = { .tree = tree, .source = source, .report = report };
    struct walk walk = { calloc(root->height + 1, sizeof(struct level)), 1 };
    int result = WEIR_OK;

    if (!walk.levels)
        return WEIR_ENOMEM;
    replacing.use = use;
    walk.levels[0].node = root;
    while (walk.depth && result != WEIR_ENOMEM && !report_has_enough(report)) {
        int status = step(&replacing, &walk);

        if (status != WEIR_OK)
            result = status;
    }
    free(walk.levels);
    return result;
}

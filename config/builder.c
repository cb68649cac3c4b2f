/* SPDX-License-Identifier: MIT */
#include "config/builder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "config/key_index.h"
#include "config/syntax.h"

#define PATH_SIZE 512 /* of a key's path in a message; a longer one is truncated */

/* A list or map that is not complete yet. */
struct frame {
    struct config_node *node;
    struct config_node *key;   /* of a map: the key whose value comes next */
    bool key_counts;           /* the key is a text, and the first of its name */
    struct config_node *merge; /* of a map: the value of `<<` */
    struct config_pair *pairs; /* owned */
    uint32_t capacity;
};

struct builder {
    struct config_tree *tree;
    const struct config_text *text;
    const struct config_limits *limits;
    struct report *report;
    uint32_t *nodes;
    struct frame *frames; /* room for limits->depth */
    uint32_t depth;
    struct key_index keys; /* keys of every map by its node; anchors by the builder */
    struct config_node *root;
    uint32_t documents;
    bool wrong; /* a mistake was reported, and reading goes on */
};

static struct mark mark_of(const struct builder *builder, const yaml_mark_t *mark)
{
    return (struct mark){ builder->text->name, (uint32_t)mark->line + 1,
                          (uint32_t)mark->column + 1 };
}

/* --- saying where ----------------------------------------------------------------------------- */

/* Writes the keys that lead to the node under construction: `pools.verify.args`. */
static const char *path_of(const struct builder *builder, char *path)
{
    size_t used = 0;

    path[0] = '\0';
    for (uint32_t i = 0; i < builder->depth && used < PATH_SIZE; i++) {
        const struct frame *frame = &builder->frames[i];
        int length = 0;

        if (frame->node->kind == CONFIG_LIST)
            length = snprintf(path + used, PATH_SIZE - used, "[%u]", frame->node->count);
        else if (frame->key && frame->key->text[0])
            length = snprintf(path + used, PATH_SIZE - used, "%s%s", used ? "." : "",
                              frame->key->text);
        used += length < 0 ? 0 : (size_t)length;
    }
    return path;
}

/* Reports a mistake after which the rest can still be read. */
WEIR_PRINTF(3, 4)
static void complain(struct builder *builder, const struct mark *mark, const char *format, ...)
{
    char path[PATH_SIZE];
    char reason[512];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    report_add(builder->report, mark, path_of(builder, path), "%s", reason);
    builder->wrong = true;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static int count_nodes(struct builder *builder, const struct mark *mark, uint32_t weight)
{
    *builder->nodes += weight;
    if (*builder->nodes <= builder->limits->nodes)
        return WEIR_OK;
    complain(builder, mark, "holds more than %u values with aliases written out",
             builder->limits->nodes);
    return WEIR_EINVALID;
}

static struct config_node *new_node(struct builder *builder, enum config_kind kind,
                                    const struct mark *mark)
{
    struct config_node *node = text_store_take(&builder->tree->store, sizeof *node);

    if (node)
        *node = (struct config_node){ .kind = kind, .mark = *mark, .weight = 1, .text = "" };
    return node;
}

static int add_pair(struct frame *frame, struct config_node *key, struct config_node *value)
{
    struct config_node *node = frame->node;

    if (node->count == frame->capacity) {
        uint32_t capacity = frame->capacity ? frame->capacity * 2 : 8;
        struct config_pair *pairs = realloc(frame->pairs, capacity * sizeof *pairs);

        if (!pairs)
            return WEIR_ENOMEM;
        frame->pairs = pairs;
        frame->capacity = capacity;
    }
    frame->pairs[node->count++] = (struct config_pair){ key, value };
    node->weight += value->weight + (key ? 1 : 0);
    if (node->height <= value->height)
        node->height = value->height + 1;
    return WEIR_OK;
}

/* --- maps ------------------------------------------------------------------------------------- */

static bool is_merge_key(const struct config_node *key)
{
    return strcmp(key->text, "<<") == 0;
}

/* Takes the key. A refused key gets its value, too, but outside the tree. */
static int set_key(struct builder *builder, struct frame *frame, struct config_node *key)
{
    const struct config_node *earlier;
    void *found = NULL;

    frame->key = key;
    frame->key_counts = false;
    if (key->kind != CONFIG_SCALAR) {
        complain(builder, &key->mark, "a key must be a text, got a %s",
                 key->kind == CONFIG_LIST ? "list" : "map");
        return WEIR_OK;
    }
    if (key_index_add(&builder->keys, frame->node, key->text, key, &found) != WEIR_OK)
        return WEIR_ENOMEM;
    earlier = found;
    frame->key_counts = !earlier;
    if (earlier)
        complain(builder, &key->mark, "is set twice, first in line %u", earlier->mark.line);
    return WEIR_OK;
}

static int set_value(struct frame *frame, struct config_node *value)
{
    struct config_node *key = frame->key;

    frame->key = NULL;
    if (!frame->key_counts)
        return WEIR_OK;
    if (is_merge_key(key)) {
        frame->merge = value;
        return WEIR_OK;
    }
    return add_pair(frame, key, value);
}

/* Adds the pairs of `source` whose keys are not in the map. */
static int merge_map(struct builder *builder, struct frame *frame, const struct config_node *source)
{
    for (uint32_t i = 0; i < source->count; i++) {
        const struct config_pair *pair = &source->pairs[i];
        int status;

        if (key_index_find(&builder->keys, frame->node, pair->key->text))
            continue;
        status = count_nodes(builder, &frame->merge->mark, pair->value->weight + 1);
        if (status == WEIR_OK)
            status = key_index_put(&builder->keys, frame->node, pair->key->text, pair->key);
        if (status == WEIR_OK)
            status = add_pair(frame, pair->key, pair->value);
        if (status != WEIR_OK)
            return status;
    }
    return WEIR_OK;
}

static int merge_maps(struct builder *builder, struct frame *frame)
{
    const struct config_node *merge = frame->merge;
    int status = WEIR_OK;

    if (merge->kind == CONFIG_MAP)
        return merge_map(builder, frame, merge);
    for (uint32_t i = 0; i < merge->count && status == WEIR_OK; i++) {
        if (merge->pairs[i].value->kind == CONFIG_MAP)
            status = merge_map(builder, frame, merge->pairs[i].value);
        else
            complain(builder, &merge->pairs[i].value->mark, "<< can only merge maps");
    }
    if (merge->kind == CONFIG_SCALAR)
        complain(builder, &merge->mark, "<< can only merge maps");
    return status;
}

/* --- one event -------------------------------------------------------------------------------- */

/* Adds a complete node to its parent. */
static int attach(struct builder *builder, struct config_node *node)
{
    struct frame *frame;

    if (builder->depth == 0) {
        builder->root = node;
        return WEIR_OK;
    }
    frame = &builder->frames[builder->depth - 1];
    assert(frame->node);
    if (frame->node->kind == CONFIG_LIST)
        return add_pair(frame, NULL, node);
    return frame->key ? set_value(frame, node) : set_key(builder, frame, node);
}

static void refuse_tag(struct builder *builder, const struct mark *mark, const yaml_char_t *tag)
{
    if (tag)
        complain(builder, mark, "explicit tags are not supported, got \"%.64s\"",
                 (const char *)tag);
}

static int set_anchor(struct builder *builder, const yaml_char_t *anchor, struct config_node *node)
{
    const char *name;

    if (!anchor)
        return WEIR_OK;
    name = text_store_copy(&builder->tree->store, (const char *)anchor);
    return name ? key_index_put(&builder->keys, builder, name, node) : WEIR_ENOMEM;
}

static bool means_null(const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;

    return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (text[0] == '\0' || strcmp(text, "~") == 0 || strcmp(text, "null") == 0);
}

/* The message leaves out the path, since the path may contain this text. */
static int check_text(struct builder *builder, const struct mark *mark, size_t size)
{
    char limit[32];

    if (size <= builder->limits->text)
        return WEIR_OK;
    text_format_size(builder->limits->text, limit, sizeof limit);
    report_add(builder->report, mark, NULL, "a text has at most %s, this one has %zu bytes", limit,
               size);
    return WEIR_EINVALID;
}

static int on_scalar(struct builder *builder, const yaml_event_t *event)
{
    struct mark mark = mark_of(builder, &event->start_mark);
    struct config_node *node;
    size_t size = event->data.scalar.length;

    if (count_nodes(builder, &mark, 1) != WEIR_OK || check_text(builder, &mark, size) != WEIR_OK)
        return WEIR_EINVALID;
    refuse_tag(builder, &mark, event->data.scalar.tag);
    if (memchr(event->data.scalar.value, '\0', size))
        complain(builder, &mark, "a text cannot hold a NUL character");
    node = new_node(builder, CONFIG_SCALAR, &mark);
    if (!node)
        return WEIR_ENOMEM;
    node->text = text_store_copy_size(&builder->tree->store, (const char *)event->data.scalar.value,
                                      size);
    node->null = means_null(event);
    if (!node->text || set_anchor(builder, event->data.scalar.anchor, node) != WEIR_OK)
        return WEIR_ENOMEM;
    return attach(builder, node);
}

static int check_depth(struct builder *builder, const struct mark *mark, uint32_t height)
{
    if (builder->depth + height <= builder->limits->depth)
        return WEIR_OK;
    /* The message leaves out the path, which is as long as the nesting is deep. */
    report_add(builder->report, mark, NULL, "is nested deeper than %u levels",
               builder->limits->depth);
    return WEIR_EINVALID;
}

static int on_start(struct builder *builder, const yaml_event_t *event, enum config_kind kind)
{
    struct mark mark = mark_of(builder, &event->start_mark);
    bool map = kind == CONFIG_MAP;
    struct config_node *node;

    if (check_depth(builder, &mark, 1) != WEIR_OK || count_nodes(builder, &mark, 1) != WEIR_OK)
        return WEIR_EINVALID;
    refuse_tag(builder, &mark,
               map ? event->data.mapping_start.tag : event->data.sequence_start.tag);
    node = new_node(builder, kind, &mark);
    if (!node ||
        set_anchor(builder,
                   map ? event->data.mapping_start.anchor : event->data.sequence_start.anchor,
                   node) != WEIR_OK)
        return WEIR_ENOMEM;
    node->height = 1;
    builder->frames[builder->depth++] = (struct frame){ .node = node };
    return WEIR_OK;
}

static int on_end(struct builder *builder)
{
    struct frame *frame = &builder->frames[builder->depth - 1];
    struct config_node *node = frame->node;
    int status = frame->merge ? merge_maps(builder, frame) : WEIR_OK;

    assert(node && (frame->pairs || node->count == 0));
    if (status != WEIR_OK)
        return status;
    node->pairs = text_store_take_array(&builder->tree->store, node->count, sizeof *node->pairs);
    if (!node->pairs)
        return WEIR_ENOMEM;
    if (node->count)
        memcpy(node->pairs, frame->pairs, node->count * sizeof *node->pairs);
    free(frame->pairs);
    frame->pairs = NULL;
    builder->depth--;
    return attach(builder, node);
}

static bool is_open(const struct builder *builder, const struct config_node *node)
{
    for (uint32_t i = 0; i < builder->depth; i++) {
        if (builder->frames[i].node == node)
            return true;
    }
    return false;
}

static int on_alias(struct builder *builder, const yaml_event_t *event)
{
    struct mark mark = mark_of(builder, &event->start_mark);
    const char *name = (const char *)event->data.alias.anchor;
    struct config_node *node = key_index_find(&builder->keys, builder, name);
    int status;

    if (!node || is_open(builder, node)) {
        complain(builder, &mark,
                 node ? "alias *%.64s stands inside its own anchor"
                      : "alias *%.64s has no anchor before it",
                 name);
        node = new_node(builder, CONFIG_SCALAR, &mark);
        return node ? attach(builder, node) : WEIR_ENOMEM;
    }
    status = check_depth(builder, &mark, node->height);
    if (status == WEIR_OK)
        status = count_nodes(builder, &mark, node->weight);
    return status == WEIR_OK ? attach(builder, node) : status;
}

static int on_document(struct builder *builder, const yaml_event_t *event)
{
    struct mark mark = mark_of(builder, &event->start_mark);

    if (++builder->documents == 1)
        return WEIR_OK;
    complain(builder, &mark, "a second document begins here, a file holds one");
    return WEIR_EINVALID;
}

static int on_event(struct builder *builder, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return on_document(builder, event);
    case YAML_SCALAR_EVENT:
        return on_scalar(builder, event);
    case YAML_ALIAS_EVENT:
        return on_alias(builder, event);
    case YAML_SEQUENCE_START_EVENT:
        return on_start(builder, event, CONFIG_LIST);
    case YAML_MAPPING_START_EVENT:
        return on_start(builder, event, CONFIG_MAP);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return on_end(builder);
    default:
        return WEIR_OK;
    }
}

/* --- all events ------------------------------------------------------------------------------- */

static int read_events(struct builder *builder, yaml_parser_t *parser)
{
    int status = WEIR_OK;
    bool last = false;

    while (status == WEIR_OK && !last && !report_has_enough(builder->report)) {
        yaml_event_t event;

        if (!yaml_parser_parse(parser, &event))
            return syntax_report(parser, builder->text, builder->report);
        status = on_event(builder, &event);
        last = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    return status;
}

/* The text is empty. That is a mistake, except for a part of a file. */
static int complete_empty_root(struct builder *builder)
{
    struct mark start = { builder->text->name, 1, 1 };

    if (!builder->text->is_part) {
        report_add(builder->report, &start, NULL, "the file is empty");
        return WEIR_EINVALID;
    }
    builder->root = new_node(builder, CONFIG_MAP, &start);
    return builder->root ? WEIR_OK : WEIR_ENOMEM;
}

static int check_root(struct builder *builder)
{
    char text[96];

    if (report_has_enough(builder->report))
        return WEIR_EINVALID;
    if (!builder->root || builder->root->null)
        return complete_empty_root(builder);
    if (builder->root->kind != CONFIG_MAP) {
        report_add(builder->report, &builder->root->mark, NULL, "must be a map of keys%s, got %s",
                   builder->text->is_part ? "" : " such as `pools`",
                   config_describe(builder->root, text, sizeof text));
        return WEIR_EINVALID;
    }
    return WEIR_OK;
}

static void finish(struct builder *builder)
{
    for (uint32_t i = 0; builder->frames && i < builder->depth; i++)
        free(builder->frames[i].pairs);
    free(builder->frames);
    key_index_finish(&builder->keys);
}

int builder_read(struct config_tree *tree, const struct config_text *text,
                 const struct config_limits *limits, uint32_t *nodes, struct report *report,
                 struct config_node **out_root, bool *out_wrong)
{
    struct builder builder = { .tree = tree, .text = text, .limits = limits, .report = report };
    yaml_parser_t parser;
    int status = WEIR_ENOMEM;

    builder.nodes = nodes;
    key_index_init(&builder.keys);
    builder.frames = calloc(limits->depth, sizeof *builder.frames);
    if (builder.frames && yaml_parser_initialize(&parser)) {
        yaml_parser_set_input_string(&parser, (const unsigned char *)text->bytes, text->size);
        yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
        status = read_events(&builder, &parser);
        yaml_parser_delete(&parser);
    }
    if (status == WEIR_OK)
        status = check_root(&builder);
    finish(&builder);
    assert(status != WEIR_OK || builder.root);
    if (status == WEIR_OK) {
        *out_root = builder.root;
        *out_wrong = builder.wrong;
    }
    return status;
}

#include "kit_yaml.h"

#include <stdlib.h>
#include <string.h>

#include "kit_scan.h"

#define ITEMS_MAX 256 /* of a map or list; more is no test of options */
#define KEY_MAX 1000  /* bytes; libyaml looks no further for the colon */

/* A list or map on its way into an option_value. */
struct items {
    struct option_text keys[ITEMS_MAX]; /* of a map */
    struct option_text texts[ITEMS_MAX];
    bool nulls; /* one of them has no text */
    size_t count;
};

/* --- keys ------------------------------------------------------------------------------------- */

/* A key of a map that was there before. Reading goes on: there may be more of them. */
static void report_twice(struct kit_reading *reading, const char *map,
                         const struct option_text *key, struct mark first)
{
    char path[KEY_MAX + 64];

    (void)snprintf(path, sizeof path, "%s%s%s", map, map[0] ? "." : "", key->text);
    report_add(reading->report, &key->mark, path, "is set twice, first in line %u", first.line);
    reading->wrong = true;
}

static void look_for_twice(struct kit_reading *reading, const char *map, const struct items *items)
{
    const struct option_text *key = &items->keys[items->count];

    for (size_t i = 0; i < items->count; i++) {
        if (strcmp(items->keys[i].text, key->text) == 0) {
            report_twice(reading, map, key, items->keys[i].mark);
            return;
        }
    }
}

/* A key and its colon; leaves the scan right behind that. */
static bool read_key(struct kit_reading *reading, bool flow, struct option_text *key)
{
    struct kit_scan *scan = &reading->scan;
    bool null = false;

    if (!kit_scan_text(reading, flow, key, &null))
        return false;
    kit_scan_spaces(scan);
    if (*scan->at != ':' || !kit_scan_is_blank(scan->at[1]))
        return kit_scan_refuse(reading, "a key, a colon and a blank");
    if (strlen(key->text) > KEY_MAX)
        return kit_scan_refuse_at(reading, key->mark, "a shorter key");
    if (strcmp(key->text, "<<") == 0)
        return kit_scan_refuse_at(reading, key->mark, "no merging with <<");
    kit_scan_advance(scan);
    return true;
}

/* --- flow form -------------------------------------------------------------------------------- */

/* A list or map, from its bracket to behind the other one. */
static bool read_flow(struct kit_reading *reading, struct items *items, const char *path)
{
    struct kit_scan *scan = &reading->scan;
    bool map = *scan->at == '{';
    char end = map ? '}' : ']';

    kit_scan_advance(scan);
    for (kit_scan_spaces(scan); *scan->at != end; kit_scan_spaces(scan)) {
        struct option_text *text = &items->texts[items->count];
        bool null = false;

        if (items->count == ITEMS_MAX)
            return kit_scan_refuse(reading, "so many items");
        if (map) {
            if (!read_key(reading, true, &items->keys[items->count]))
                return false;
            look_for_twice(reading, path, items);
            kit_scan_spaces(scan);
        }
        if (map && (*scan->at == ',' || *scan->at == end))
            return kit_scan_refuse(reading, "a key in { } has a value");
        if (!kit_scan_text(reading, true, text, &null))
            return false;
        items->nulls = items->nulls || null;
        items->count++;
        kit_scan_spaces(scan);
        if (*scan->at == ',')
            kit_scan_advance(scan);
        else if (*scan->at != end)
            return kit_scan_refuse(reading, "a list or map in brackets stands in one line");
    }
    kit_scan_advance(scan);
    return true;
}

/* --- block form ------------------------------------------------------------------------------- */

/* Texts behind dashes, all in the column of the first. */
static bool read_block_list(struct kit_reading *reading, struct items *items)
{
    struct kit_scan *scan = &reading->scan;
    const uint32_t column = scan->mark.column;

    while (*scan->at && scan->mark.column == column && kit_scan_is_item(scan)) {
        bool null = true;

        if (items->count == ITEMS_MAX)
            return kit_scan_refuse(reading, "so many items");
        kit_scan_advance(scan);
        items->texts[items->count].mark = scan->mark;
        kit_scan_spaces(scan);
        if (kit_scan_is_end(*scan->at) || *scan->at == '#')
            return kit_scan_refuse(reading, "an item stands behind its dash");
        if (!kit_scan_text(reading, false, &items->texts[items->count], &null) ||
            !kit_scan_end_line(reading))
            return false;
        items->nulls = items->nulls || null;
        items->count++;
        kit_scan_content(scan);
    }
    return true;
}

/* Keys with texts, all in the column of the first. */
static bool read_block_texts(struct kit_reading *reading, struct items *items, const char *path)
{
    struct kit_scan *scan = &reading->scan;
    const uint32_t column = scan->mark.column;

    while (*scan->at && scan->mark.column == column && !kit_scan_is_item(scan)) {
        struct option_text *key = &items->keys[items->count];
        bool null = true;

        if (items->count == ITEMS_MAX)
            return kit_scan_refuse(reading, "so many items");
        if (!read_key(reading, false, key))
            return false;
        look_for_twice(reading, path, items);
        kit_scan_spaces(scan);
        if (kit_scan_is_end(*scan->at) || *scan->at == '#')
            return kit_scan_refuse(reading, "a key in a map has a text");
        if (!kit_scan_text(reading, false, &items->texts[items->count], &null) ||
            !kit_scan_end_line(reading))
            return false;
        items->nulls = items->nulls || null;
        items->count++;
        kit_scan_content(scan);
    }
    return true;
}

static void keep_items(struct kit_reading *reading, const struct items *items, bool map,
                       struct option_value *value)
{
    struct text_store *store = reading->store;
    struct option_text *texts = text_store_take_array(store, items->count, sizeof *texts);
    struct option_text *keys = text_store_take_array(store, items->count, sizeof *keys);

    if (!texts || !keys)
        abort();
    memcpy(texts, items->texts, items->count * sizeof *texts);
    if (map)
        memcpy(keys, items->keys, items->count * sizeof *keys);
    value->keys = keys;
    value->items = texts;
    value->count = items->count;
    value->shape = items->nulls ? OPTION_NESTED : map ? OPTION_MAP : OPTION_LIST;
}

/* What stands in the lines below a key: a list, a map, or nothing. */
static bool read_below(struct kit_reading *reading, uint32_t column, struct option_value *value)
{
    struct kit_scan *scan = &reading->scan;
    struct items items = { .count = 0 };
    struct kit_scan ahead = *scan;
    bool list, done;

    kit_scan_content(&ahead);
    list = kit_scan_is_item(&ahead);
    if (!*ahead.at || ahead.mark.column < column || (ahead.mark.column == column && !list)) {
        value->shape = OPTION_NONE;
        return true;
    }
    if (kit_scan_is_marker(&ahead))
        return kit_scan_refuse_at(reading, ahead.mark, "one document");
    *scan = ahead;
    value->mark = ahead.mark;
    done = list ? read_block_list(reading, &items) : read_block_texts(reading, &items, value->name);
    if (done)
        keep_items(reading, &items, !list, value);
    return done;
}

/* --- values ----------------------------------------------------------------------------------- */

/* What stands in the line of a key, behind its colon and blanks. */
static bool read_beside(struct kit_reading *reading, bool flow, struct option_value *value)
{
    struct kit_scan *scan = &reading->scan;
    struct items items = { .count = 0 };
    bool map = *scan->at == '{';
    bool null = false;

    value->mark = scan->mark;
    if (!map && *scan->at != '[') {
        if (!kit_scan_text(reading, flow, &value->scalar, &null))
            return false;
        value->shape = null ? OPTION_NONE : OPTION_SCALAR;
        return true;
    }
    if (!read_flow(reading, &items, value->name))
        return false;
    keep_items(reading, &items, map, value);
    return true;
}

static bool add_value(struct kit_reading *reading, struct kit_yaml *yaml,
                      const struct option_value *value)
{
    struct option_value *values = text_store_take_array(&yaml->store, yaml->count + 1,
                                                        sizeof *values);

    if (!values)
        abort();
    if (yaml->count > 0)
        memcpy(values, yaml->values, yaml->count * sizeof *values);
    values[yaml->count++] = *value;
    yaml->values = values;
    return yaml->count < ITEMS_MAX || kit_scan_refuse(reading, "so many keys");
}

/* Reads a key of the args themselves, and begins its value. */
static bool begin_value(struct kit_reading *reading, struct kit_yaml *yaml, bool flow,
                        struct option_value *value)
{
    struct option_text key;

    if (!read_key(reading, flow, &key))
        return false;
    for (size_t i = 0; i < yaml->count; i++) {
        if (strcmp(yaml->values[i].name, key.text) == 0) {
            report_twice(reading, "", &key, yaml->values[i].name_mark);
            break;
        }
    }
    *value = (struct option_value){ .name = key.text, .name_mark = key.mark };
    value->mark = reading->scan.mark; /* of what is not there */
    value->scalar = (struct option_text){ "", reading->scan.mark, false };
    kit_scan_spaces(&reading->scan);
    return true;
}

static bool read_block_args(struct kit_reading *reading, struct kit_yaml *yaml)
{
    struct kit_scan *scan = &reading->scan;
    const uint32_t column = scan->mark.column;

    while (*scan->at) {
        struct option_value value;
        bool done;

        if (scan->mark.column != column)
            return kit_scan_refuse(reading, "keys stand in one column, and a value in one line");
        if (kit_scan_is_marker(scan) || kit_scan_is_item(scan))
            return kit_scan_refuse(reading, "a map of keys");
        if (!begin_value(reading, yaml, false, &value))
            return false;
        if (kit_scan_is_end(*scan->at) || *scan->at == '#')
            done = read_below(reading, column, &value);
        else
            done = read_beside(reading, false, &value) && kit_scan_end_line(reading);
        if (!done || !add_value(reading, yaml, &value))
            return false;
        kit_scan_content(scan);
    }
    return true;
}

static bool read_flow_args(struct kit_reading *reading, struct kit_yaml *yaml)
{
    struct kit_scan *scan = &reading->scan;

    kit_scan_advance(scan);
    for (kit_scan_spaces(scan); *scan->at != '}'; kit_scan_spaces(scan)) {
        struct option_value value;

        if (!begin_value(reading, yaml, true, &value))
            return false;
        if (*scan->at == ',' || *scan->at == '}')
            return kit_scan_refuse(reading, "a key in { } has a value");
        if (!read_beside(reading, true, &value) || !add_value(reading, yaml, &value))
            return false;
        kit_scan_spaces(scan);
        if (*scan->at == ',')
            kit_scan_advance(scan);
        else if (*scan->at != '}')
            return kit_scan_refuse(reading, "a list or map in brackets stands in one line");
    }
    kit_scan_advance(scan);
    if (!kit_scan_end_line(reading))
        return false;
    kit_scan_content(scan);
    return *scan->at == '\0' || kit_scan_refuse(reading, "one map");
}

bool kit_yaml_read(const char *name, const char *text, struct report *report,
                   struct kit_yaml *out_yaml)
{
    struct kit_reading reading = {
        .scan = { text, { name, 1, 1 } },
        .store = &out_yaml->store,
        .report = report,
    };
    bool done;

    *out_yaml = (struct kit_yaml){ .mark = { name, 1, 1 } };
    text_store_init(&out_yaml->store);
    if (!kit_scan_check(&reading))
        return false;
    kit_scan_content(&reading.scan);
    if (*reading.scan.at)
        out_yaml->mark = reading.scan.mark;
    done = *reading.scan.at == '{' ? read_flow_args(&reading, out_yaml)
                                   : read_block_args(&reading, out_yaml);
    return done && !reading.wrong;
}

void kit_yaml_finish(struct kit_yaml *yaml)
{
    text_store_finish(&yaml->store);
}

/*
 * kit_yaml.h - reads the args of a behaviour from a text, as far as they are plain YAML.
 *
 * Plain means: a map of keys, in block or in flow form, whose values are texts, lists of texts or
 * maps of texts; in quotes or not, each on one line; with comments. What is more than that, such as
 * anchors, tags, `${...}` and texts over several lines, is refused, so nothing is read in another
 * way than the host reads it. A test of ours holds this against the host's own reader.
 *
 * Life: kit_yaml_read .. kit_yaml_finish. Not synchronised.
 */
#ifndef SDK_TESTKIT_KIT_YAML_H
#define SDK_TESTKIT_KIT_YAML_H

#include "base/option.h"

struct kit_yaml {
    struct text_store store;     /* all that is below */
    struct option_value *values; /* in the order of the text; borrowed until finish */
    size_t count;
    struct mark mark; /* of the map */
};

/*
 * Reads `text`, which stands in for the file `name`; borrows that until kit_yaml_finish. False
 * after a report of what is wrong; kit_yaml_finish is due in any case.
 */
bool kit_yaml_read(const char *name, const char *text, struct report *report,
                   struct kit_yaml *out_yaml);
void kit_yaml_finish(struct kit_yaml *yaml);

#endif

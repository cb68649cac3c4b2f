/* SPDX-License-Identifier: MIT */
/*
 * kit_subject.h - a plugin that does what a test says, right or wrong: it runs the function in the
 * message.
 */
#ifndef TESTS_UNIT_SDK_KIT_SUBJECT_H
#define TESTS_UNIT_SDK_KIT_SUBJECT_H

#include <weir/plugin.h>

/* Answers the verdict. */
typedef int subject_body(struct weir_self *self, const struct weir_message *message);

struct subject_settings {
    int status;  /* the result of `open`; `check` refuses values above 0 */
    bool forget; /* a message, in `open` */
};

extern const struct weir_plugin weir_plugin_v1;

#endif

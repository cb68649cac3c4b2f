/* SPDX-License-Identifier: MIT */
/*
 * timer.h - the messages of the plugin `timer`.
 *
 * For plugins that receive them. The payload of TIMER_BEAT_TAG is the text of the option `payload`.
 */
#ifndef TIMER_H
#define TIMER_H

#define TIMER_BEAT_TAG "timer.beat/1"

#endif

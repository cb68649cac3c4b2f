/* SPDX-License-Identifier: MIT */
/* Fault: built for an SDK of another major version. */
__attribute__((visibility("default"))) extern const int weir_plugin_v2;

const int weir_plugin_v2 = 2;

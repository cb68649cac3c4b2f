/* SPDX-License-Identifier: MIT */
/* Fault: a shared object that is no plugin. */
__attribute__((visibility("default"))) int no_symbol_answer(void);

int no_symbol_answer(void)
{
    return 42;
}

/* SPDX-License-Identifier: MIT */
/* The program `weir`. */
#include <stdio.h>

#include "host/command/command.h"
#include "host/run/io.h"

int main(int argc, char **argv)
{
    /* First of all: a signal in the first millisecond must wait for the I/O thread. */
    io_block_signals();
    io_hold_standard_descriptors();
    return command_main("/proc/self/exe", argc, argv, stdout, stderr);
}

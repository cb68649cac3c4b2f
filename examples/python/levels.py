# SPDX-License-Identifier: MIT
"""Sends each line to the output that its first word asks for."""
import weir


@weir.worker
def sort(message):
    level = message.data.split(b" ", 1)[0]
    if level == b"ERROR":
        message.emit(message.data, output="errors")
    elif level == b"WARNING":
        message.emit(message.data, output="out2")
    else:
        message.emit(message.data)


if __name__ == "__main__":
    weir.run(sort)

# SPDX-License-Identifier: MIT
"""Prints the SHA-256 of each file that a line names, with four threads in one process."""
import concurrent.futures
import hashlib

import weir

threads = concurrent.futures.ThreadPoolExecutor(4)


def sum_file(message):
    try:
        with open(message.data, "rb") as stream:
            digest = hashlib.sha256(stream.read()).hexdigest()
        message.settle(digest.encode() + b"  " + message.data)
    except (OSError, ValueError) as error:
        message.settle(weir.Reject(str(error)))


@weir.worker
def start(message):
    message.keep()
    threads.submit(sum_file, message)


if __name__ == "__main__":
    weir.run(start)

# SPDX-License-Identifier: MIT
"""A child of exec.pipe: up to 64 items at once.

    batch.py WORK
"""
import importlib
import sys

import weir

work = importlib.import_module(sys.argv[1]).work


@weir.worker(batch=64, wait="5ms")
def handle(messages):
    return [work(message.data) for message in messages]


weir.run(handle)

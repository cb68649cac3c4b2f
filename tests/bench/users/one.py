# SPDX-License-Identifier: MIT
"""A child of exec.pipe: one item after the other.

    one.py WORK
"""
import importlib
import sys

import weir

work = importlib.import_module(sys.argv[1]).work

weir.run(lambda message: work(message.data))

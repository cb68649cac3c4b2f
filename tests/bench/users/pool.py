# SPDX-License-Identifier: MIT
"""Peer: the lines of a file through multiprocessing.Pool.

    pool.py WORK PROCESSES CHUNK FILE
"""
import importlib
import multiprocessing
import sys

work = importlib.import_module(sys.argv[1]).work

if __name__ == "__main__":
    with multiprocessing.Pool(int(sys.argv[2])) as pool, open(sys.argv[4], "rb") as lines:
        for result in pool.imap_unordered(work, lines, chunksize=int(sys.argv[3])):
            sys.stdout.buffer.write(result)
        pool.close()
        pool.join()

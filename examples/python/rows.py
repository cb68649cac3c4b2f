# SPDX-License-Identifier: MIT
"""Writes lines into a database of SQLite, up to a hundred in a transaction."""
import os
import sqlite3

import weir

database = sqlite3.connect(os.environ.get("ROWS", "rows.db"), isolation_level=None)
database.execute("CREATE TABLE IF NOT EXISTS lines (line TEXT PRIMARY KEY)")


@weir.worker(batch=100, wait="20ms")
def insert(messages):
    results = []
    with database:                      # commits at its end
        database.execute("BEGIN")
        for message in messages:
            try:
                line = message.data.decode()
                # A process that is killed after the commit gets the same lines again.
                database.execute("INSERT OR IGNORE INTO lines VALUES (?)", (line,))
                results.append(None)
            except UnicodeDecodeError as error:
                results.append(weir.Reject(str(error)))
    return results


if __name__ == "__main__":
    weir.run(insert)

# SPDX-License-Identifier: MIT
"""What became of mutants: a line for each, and tables by folder and by kind."""
import collections

OUTCOMES = ("killed", "survived", "equivalent", "not built")
DEPTH = {"core": 2, "host": 2, "plugins": 2}  # of other folders the first name is a row


def outcome_of(record):
    if record["outcome"] == "survived" and record.get("reason"):
        return "equivalent"
    return record["outcome"]


def folder_of(path):
    parts = path.split("/")[:-1]
    return "/".join(parts[:DEPTH.get(parts[0], 1)])


def describe(record):
    end = {"killed": f"killed by {record['by']}", "not built": "not built",
           "survived": f"SURVIVED {', '.join(record['tried'])} tests"}[record["outcome"]]
    pairs = list(zip(record["old"], record["new"]))
    change = "; ".join(f"`{old}` -> `{new}`" for old, new in pairs[:2])
    more = f" and {len(pairs) - 2} lines more" if len(pairs) > 2 else ""
    return (f"{record['path']}:{record['line']} {record['kind']}: {change}{more}: {end} "
            f"({record['seconds']} s)")


def share_of(counts):
    """Percent of those that a test could kill."""
    tried = counts["killed"] + counts["survived"]
    return 100.0 * counts["killed"] / tried if tried else 100.0


def print_table(title, records, name_of):
    rows = collections.defaultdict(collections.Counter)
    for record in records:
        rows[name_of(record)][outcome_of(record)] += 1
        rows["all"][outcome_of(record)] += 1
    print(f"\n{title:<20}" + "".join(f"{outcome:>12}" for outcome in OUTCOMES) + "  killed, %")
    for name in sorted(rows, key=lambda name: (name == "all", name)):
        print(f"{name:<20}" + "".join(f"{rows[name][outcome]:>12}" for outcome in OUTCOMES)
              + f"{share_of(rows[name]):>11.1f}")
    return share_of(rows["all"])


def print_tables(records):
    """The percentage that was killed."""
    print_table("kind", records, lambda record: record["kind"])
    share = print_table("folder", records, lambda record: folder_of(record["path"]))
    for record in records:
        if outcome_of(record) == "survived":
            print(describe(record))
    return share

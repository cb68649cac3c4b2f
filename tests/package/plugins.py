#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Goal: each bundled plugin is in one Debian package: those that link no library in weir-plugins, each
other one in a package of its own, which .debian/control describes.
Method: reads the plugins from plugins/*/CMakeLists.txt, and .debian/*.install.

Usage: plugins.py [ROOT]. Prints a line for each mistake; ends with 1 if there was any.
"""
import re
import sys
from pathlib import Path

PLUGIN = re.compile(r"weir_add_plugin\((\w[\w-]*)([^)]*)\)")
INSTALLED = re.compile(r"^usr/lib/\*/weir/plugins/(\S+)\.so$", re.M)


def plugins(root):
    """(name, whether it links a library) of each bundled plugin."""
    for path in sorted(root.glob("plugins/*/CMakeLists.txt")):
        for name, rest in PLUGIN.findall(path.read_text(encoding="utf-8")):
            yield name, "LIBRARIES" in rest


def packages(root):
    """The packages of each plugin: {plugin: [package]}."""
    found = {}
    for path in sorted((root / ".debian").glob("*.install")):
        for name in INSTALLED.findall(path.read_text(encoding="utf-8")):
            found.setdefault(name, []).append(path.stem)
    return found


def mistakes(root):
    control = (root / ".debian/control").read_text(encoding="utf-8")
    found = packages(root)
    for name, links in plugins(root):
        wanted = f"weir-plugin-{name}" if links else "weir-plugins"
        if found.get(name) != [wanted]:
            yield (f"plugins/{name}: belongs into .debian/{wanted}.install, "
                   f"and is in {found.get(name, 'none')}")
        if f"\nPackage: {wanted}\n" not in control:
            yield f"plugins/{name}: .debian/control has no package {wanted}"
    if not found:
        yield ".debian: no file installs a plugin"


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
    found = list(mistakes(root))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

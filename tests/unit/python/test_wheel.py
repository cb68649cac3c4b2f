#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   sdk/python is what pip needs: a wheel of it has the modules of a worker, and the
        version of the project.
Method: the hook of PEP 517, which pip calls, builds a wheel of a copy. Only its files are imported.

    test_wheel.py TREE VERSION
"""
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from email.parser import Parser

TREE, VERSION = sys.argv[1:3]
BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"


@contextlib.contextmanager
def unpacked():
    with tempfile.TemporaryDirectory() as folder:
        copy, out, files = (os.path.join(folder, name) for name in ("copy", "out", "files"))
        shutil.copytree(os.path.join(TREE, "sdk/python"), copy,
                        ignore=shutil.ignore_patterns("__pycache__"))
        os.mkdir(out)
        subprocess.run([sys.executable, "-c", BUILD, out], cwd=copy, check=True,
                       capture_output=True)
        wheel, = os.listdir(out)
        with zipfile.ZipFile(os.path.join(out, wheel)) as archive:
            archive.extractall(files)
        yield wheel, files


class Wheel(unittest.TestCase):
    def test_wheel_has_the_modules_and_the_version(self):
        with unpacked() as (wheel, files):
            self.assertEqual(wheel, f"weir-{VERSION}-py3-none-any.whl")
            with open(os.path.join(files, f"weir-{VERSION}.dist-info/METADATA"),
                      encoding="utf-8") as stream:
                metadata = Parser().parse(stream)
            self.assertEqual(metadata["Name"], "weir")
            self.assertEqual(metadata["Requires-Python"], ">=3.9")
            self.assertIsNone(metadata["Requires-Dist"])
            program = ("import sys; sys.path.insert(0, sys.argv[1]); import weir_testing as t\n"
                       "host = t.Host(lambda got: got.data.upper()); host.send('a')\n"
                       "print(host.outputs, t.weir.__file__)")
            got = subprocess.run([sys.executable, "-I", "-c", program, files], check=True,
                                 capture_output=True, text=True)
            self.assertEqual(got.stdout, f"[b'A'] {files}/weir.py\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

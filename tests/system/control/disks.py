# SPDX-License-Identifier: MIT
"""Small disks for tests, which can be full: tmpfs, in a name space of the test's own, so that
nothing is left of them whatever becomes of the test."""
import os
import subprocess
import sys

MARK = "WEIR_TEST_DISKS"


def enter():
    """Call it first: runs the script again, where it may mount. Root needs no name space of
    users."""
    if os.environ.get(MARK):
        return
    users = [] if os.getuid() == 0 else ["--user", "--map-root-user"]
    os.execvpe("unshare", ["unshare", "--mount", *users, sys.executable, *sys.argv],
               {**os.environ, MARK: "1"})


class Disk:
    def __init__(self, path, size):
        self.path = path
        self.fill_path = os.path.join(path, "fill")
        os.mkdir(path)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "tmpfs", path],
                       check=True)

    def fill(self):
        """Not a byte is left for another page."""
        with open(self.fill_path, "ab", buffering=0) as stream:
            for size in (65536, 4096, 1):
                try:
                    while True:
                        stream.write(bytes(size))
                except OSError:
                    pass

    def is_full(self):
        return os.path.exists(self.fill_path)

    def free(self):
        if self.is_full():
            os.unlink(self.fill_path)

    def unmount(self):
        subprocess.run(["umount", "--lazy", self.path], check=True)
        os.rmdir(self.path)

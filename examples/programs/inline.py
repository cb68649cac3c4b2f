# SPDX-License-Identifier: MIT
"""Calls libweir from a language that compiles no headers: python3 inline.py LIBWEIR."""
import ctypes
import sys

weir = ctypes.CDLL(sys.argv[1])
weir.weir_runtime_version.restype = ctypes.c_char_p
weir.weir_status_name.restype = ctypes.c_char_p

print("libweir", weir.weir_runtime_version().decode())
print("status -1 is", weir.weir_status_name(-1).decode())

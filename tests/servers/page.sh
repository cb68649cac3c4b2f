#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds examples/thumbs as a stranger would, and shows its page to Chromium.
#
# Usage: page.sh thumbs CMAKE BUILD SOURCE COMPILER GENERATOR PICTURE
set -euo pipefail
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
picture=$(realpath -m "$7")
. "$here/../system/examples/example.sh"
mkdir -p "${picture%/*}"
PYTHONPATH="$here/../system/examples" python3 "$here/page.py" "$weir" "$picture"

#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal:   each piece of an accepted Epic is settled, whatever fails; its requesters get the
#         truth; and the README shows what a user gets. Shows promise X8.
# Method: epic.py runs hosts with a real database. Then the transcript of the README.
set -euo pipefail
. "${BASH_SOURCE[0]%/*}/example.sh"
here=$source/tests/system

export WEIR_PLUGIN_PATH=$work/build/epic/plugins PYTHONDONTWRITEBYTECODE=1
python3 "$here/examples/epic.py" "$weir" "$work" || fail "see above"
python3 "$here/connectors/transcripts.py" "$weir" "$WEIR_PLUGIN_PATH" "$source" \
    examples/epic/README.md || fail "see above"

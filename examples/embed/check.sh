#!/bin/sh
# SPDX-License-Identifier: MIT
# check.sh PACK FOLDER: packs the folder, and compares every file with what gzip unpacks.
set -eu
pack=$1 folder=$2
packed=$(mktemp -d)
trap 'rm -rf "$packed"' EXIT

"$pack" "$folder" "$packed"
for file in "$folder"/*; do
    [ -f "$file" ] || continue
    gzip -dc "$packed/${file##*/}.gz" | cmp - "$file"
done

# SPDX-License-Identifier: MIT
# Sourced by tests that upgrade the packages. Before, they set $work, a scratch folder.

# older FROM TO: the package as an earlier version had it: with other lines in its files of
# configuration, and with a file that the newer one no longer has.
older() {
    local tree=$work/older file version
    version=$(dpkg-deb --field "$1" Version)
    dpkg-deb --raw-extract "$1" "$tree"
    sed -i -E "/^(Version|Depends):/ s/${version//./\\.}/0.0.9/g" "$tree/DEBIAN/control"
    grep -q '^Version: 0.0.9$' "$tree/DEBIAN/control" || fail "no version to lower in $1"
    while read -r file; do
        echo "# of 0.0.9" >>"$tree$file"
    done < <(cat "$tree/DEBIAN/conffiles" 2>/dev/null)
    if [[ -d $tree/usr/share/weir ]]; then
        echo "of 0.0.9" >"$tree/usr/share/weir/gone"
    fi
    (cd "$tree" && find usr -type f -exec md5sum {} + >DEBIAN/md5sums)
    dpkg-deb --root-owner-group --build "$tree" "$2" >/dev/null
    rm -r "$tree"
}

# make_older FOLDER PACKAGE...: each of them as version 0.0.9, into the folder.
make_older() {
    local folder=$1 package
    shift
    mkdir -p "$folder"
    for package in "$@"; do
        older "$package" "$folder/$(basename "$package" | sed 's/_.*_/_0.0.9_/')"
    done
}

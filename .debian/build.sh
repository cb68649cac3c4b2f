#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds the Debian packages from what the clone holds, with what is not committed yet.
#
# Usage: build.sh FOLDER. The packages replace those in FOLDER; the packages with symbols for
# debuggers go to FOLDER/debug. Nothing in a package depends on FOLDER or on the time.
#        build.sh --source FOLDER. Writes only the tree that the packages are built from.
#
# The maintainer is the person whom DEBEMAIL and DEBFULLNAME name, as in dch(1); without DEBEMAIL,
# the one of .debian/control.
#
# A commit with the tag vVERSION gives the packages VERSION. Any other commit gives packages that
# sort before them, and after those of earlier commits: VERSION~TIME.COMMIT.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source_only=false
if [[ $1 == --source ]]; then
    source_only=true
    shift
fi
mkdir -p "$1"
folder=$(cd "$1" && pwd)
work=$(mktemp -d "$folder/work.XXXXXX")
trap 'rm -rf "$work"' EXIT

fail() {
    echo "package: FAILED: $*" >&2
    exit 1
}

of_clone() { git -C "$source" -c safe.directory="$source" "$@"; }

# maintainer_of CONTROL: "NAME <ADDRESS>".
maintainer_of() {
    local person
    person=$(sed -n 's/^Maintainer: //p' "$1")
    if [[ ${DEBEMAIL:-} == *\<* ]]; then
        person=$DEBEMAIL
    elif [[ ${DEBEMAIL:-} ]]; then
        person="${DEBFULLNAME:-${person% <*}} <$DEBEMAIL>"
    fi
    [[ $person =~ ^[^\<\>[:cntrl:]]+\ \<[^\<\>@[:space:]]+@[^\<\>@[:space:]]+\>$ ]] ||
        fail "DEBEMAIL and DEBFULLNAME give no maintainer of the form NAME <ADDRESS>: $person"
    echo "$person"
}

version=$(sed -n 's/^project(weir VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
[[ $version ]] || fail "CMakeLists.txt names no version"
commit=$(of_clone rev-parse --short=10 HEAD) || fail "$source is no git clone"
seconds=$(of_clone log -1 --format=%ct)
if ! of_clone tag --points-at HEAD | grep -qx "v$version"; then
    version+="~$(date --utc --date="@$seconds" +%Y%m%d%H%M%S).$commit"
fi

tree=$work/weir-$version
mkdir "$tree"
of_clone ls-files -z --cached --others --exclude-standard >"$work/files"
(cd "$source" && tar --null -T "$work/files" --ignore-failed-read -cf -) |
    tar -C "$tree" --no-same-owner -xf -
mv "$tree/.debian" "$tree/debian"
maintainer=$(maintainer_of "$tree/debian/control")
NAME=$maintainer perl -pi -e 's/^Maintainer: .*/Maintainer: $ENV{NAME}/' "$tree/debian/control"
cat >"$tree/debian/changelog" <<END_OF_ENTRY
weir ($version) unstable; urgency=medium

  * Built from commit $commit; changelog.gz lists the changes.

 -- $maintainer  $(date --utc --rfc-email --date="@$seconds")
END_OF_ENTRY

if "$source_only"; then
    mv -T "$tree" "$folder/weir-$version"
    exit
fi

# It would rewrite the paths in assertions.
unset CCACHE_BASEDIR
# The tests need the clone: ./dev test runs them.
export DEB_BUILD_OPTIONS="terse nocheck"
# weir-doc needs the generator of the site; the others do not.
kinds=binary
for generator in python3-sphinx python3-sphinx-rtd-theme python3-myst-parser; do
    [[ $(dpkg-query -W -f '${db:Status-Abbrev}' "$generator" 2>/dev/null) == ii* ]] || kinds=any
done
(cd "$tree" && dpkg-buildpackage --build="$kinds" --no-sign -j"$(nproc)") >"$work/log" 2>&1 || {
    grep -v -- ' -c ' "$work/log" | tail -n 40 >&2
    fail "dpkg-buildpackage (see above)"
}
rm -rf "$folder"/*.deb "$folder/debug"
mkdir "$folder/debug"
mv "$work"/*-dbgsym_*.deb "$folder/debug"
mv "$work"/*.deb "$folder"
mv "$work/log" "$folder/build.log"

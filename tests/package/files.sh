#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal: the packages do not depend on the place, the time or the surroundings of their build, and
# lintian has nothing to say about them. The builder can be their maintainer. The links of the pages
# that they install lead somewhere.
# Method: builds them again at another path, in another time zone and language, with another umask
# and without a compiler cache; compares byte for byte. Writes their source with DEBEMAIL.
#
# Usage: files.sh FOLDER, which holds the packages of .debian/build.sh.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(cd "$1" && pwd)
again=$folder/once/more

fail() {
    echo "package: FAILED: $*" >&2
    exit 1
}

# maintained_by PERSON [VARIABLE=VALUE...]: the control file and the changelog name the person.
maintained_by() {
    local person=$1
    shift
    env -u DEBEMAIL -u DEBFULLNAME "$@" "$here/../../.debian/build.sh" --source "$folder/source"
    if ! grep -qxF "Maintainer: $person" "$folder"/source/*/debian/control ||
        ! grep -qF -- " -- $person  " "$folder"/source/*/debian/changelog; then
        fail "the maintainer is not $person"
    fi
    rm -r "$folder/source"
}

maintained_by "$(sed -n 's/^Maintainer: //p' "$here/../../.debian/control")" DEBFULLNAME=Ann
maintained_by 'Ann O. <ann@host.example>' DEBFULLNAME='Ann O.' DEBEMAIL=ann@host.example
maintained_by 'Ann O. <ann@host.example>' DEBFULLNAME=Eve DEBEMAIL='Ann O. <ann@host.example>'
for wrong in ann $'ann@host.example\nEssential: yes' '<ann@host.example>'; do
    ! DEBEMAIL=$wrong "$here/../../.debian/build.sh" --source "$folder/source" 2>/dev/null ||
        fail "DEBEMAIL=$wrong is a maintainer"
done
rm -rf "$folder/source"
echo "package: the maintainer is the one of .debian/control, or the builder by DEBEMAIL"

# A plugin may call no function that has a checked variant, and then seems to lack the flags.
lintian --allow-root --display-info --fail-on error,warning,info \
    --suppress-tags hardening-no-fortify-functions "$folder"/*.deb "$folder"/debug/*.deb ||
    fail "lintian (see above)"
echo "package: lintian is content"

rm -rf "$folder/extracted" # of a run that failed
mkdir "$folder/extracted"
for package in "$folder"/*.deb; do
    dpkg-deb --extract "$package" "$folder/extracted/$(basename "$package" .deb)"
done
python3 "$here/links.py" "$folder"/extracted/* || fail "links lead nowhere (see above)"
rm -r "$folder/extracted"
echo "package: the links of the installed pages lead to what the package installs"

mkdir -p "$again"
(
    umask 027
    export TZ=Asia/Kathmandu LC_ALL=C CCACHE_DISABLE=1
    "$here/../../.debian/build.sh" "$again"
)
cd "$folder"
for package in *.deb debug/*.deb; do
    cmp "$package" "$again/$package" || fail "$package differs when it is built elsewhere"
done
rm -rf "$folder/once"
echo "package: each package is the same when it is built elsewhere"

#!/bin/bash
# SPDX-License-Identifier: MIT
# In the second bare root, which has an installed Weir at /opt/moved and no source of ours: a plugin
# from nothing, by the README that `weir new` writes; then every folder of examples/. See
# bareroot.sh.
set -euo pipefail
. /root/readme.sh
cd /root

useradd --create-home --shell /bin/bash somebody
home=/home/somebody
# as_somebody COMMAND: in a shell as a user has it, with Weir in the path.
as_somebody() {
    local log=/root/somebody.log
    setpriv --reuid somebody --regid somebody --init-groups --reset-env \
        bash -euo pipefail -c "export PATH=/opt/moved/bin:\$PATH NO_COLOR=1; cd ~; $1" \
        >"$log" 2>&1 </dev/null || fail "$1: exit code $?: $(tail -n 40 "$log")"
    cat "$log"
}

apt-get update -qq || fail "no mirror can be reached"
# shellcheck disable=SC2046
install_packages $(readme_blocks README.md '### Into a folder of your own' |
    readme_packages /dev/stdin)
as_somebody 'weir --version'
as_somebody 'weir check /opt/moved/etc/weir/weir.yaml'

# --- a plugin from nothing

# Where somebody may not write, and root could.
as_somebody 'cd /usr; weir new plugin nope && exit 1; test $? = 73' >said
grep -F 'weir new: nope: Permission denied' said || fail "$(cat said)"

as_somebody 'weir new plugin hello' >/dev/null
readme=$home/hello/README.md
# shellcheck disable=SC2046
install_packages $(readme_packages "$readme")
readme_blocks "$readme" '# hello: a plugin for Weir' >commands
while read -r line; do
    case $line in
    apt-get*) ;;
    'cmake --install'*) (cd "$home/hello" && PATH=/opt/moved/bin:$PATH bash -c "$line") ;;
    *) as_somebody "cd hello; $line" >said && echo "hello: ${line%% *#*}" ;;
    esac
    case $line in
    'cmake --build'*) grep -qF 'hello.so: ok (hello 0.1.0' said || fail "$(cat said)" ;;
    ctest*) grep -q '100% tests passed, 0 tests failed out of [1-9]' said || fail "$(cat said)" ;;
    'weir run'*)
        [[ $(grep -xE '[0-9]+' said | sort -n | xargs) == "25 50 75 100" ]] || fail "$(cat said)"
        ran=yes
        ;;
    esac
done <commands
[[ ${ran:-} == yes ]] || fail "the README of hello does not say how to run it"
rm -r "$home/hello"
as_somebody 'weir describe hello' | grep -F 'hello.pick (worker)'

# --- the examples

cp -r examples "$home/examples"
chown -R somebody: "$home/examples"
# What their files take from files, and from the environment.
for name in producer worker; do
    mkdir -p "/run/credentials/weir@$name.service"
    echo x >"/run/credentials/weir@$name.service/amqp"
done
variables="INTEGRITY_ROOT=/ INTEGRITY_LISTS=/var/lib/dpkg/info/*.md5sums"
for folder in examples/*/; do
    folder=${folder%/}
    name=$(basename "$folder")
    if [[ -f $folder/README.md ]]; then
        # shellcheck disable=SC2046
        install_packages $(readme_packages "$folder/README.md")
    fi
    if [[ -f $folder/CMakeLists.txt ]]; then
        as_somebody "cmake -S examples/$name -B build/$name" >/dev/null
        as_somebody "cmake --build build/$name" >/dev/null
        as_somebody "ctest --test-dir build/$name --output-on-failure" >said
        echo "example $name: built; $(grep -E 'tests passed|No tests' said)"
    fi
    for file in "$folder"/*.yaml; do
        [[ -f $file ]] || continue
        as_somebody "$variables weir check $file"
    done
done

# Every recipe, with what Debian has and nothing else.
install_packages python3
cp recipes.py "$home"
as_somebody 'python3 recipes.py /opt/moved/bin/weir /opt/moved/lib/weir/plugins ~ \
    /opt/moved/share/weir/python'

# Those of the README have a result that is known.
as_somebody 'weir run examples/first/first.yaml' >said
[[ $(grep -cE '^[0-9]+$' said) == "$(seq 0 9999 | factor | awk 'NF < 3' | wc -l)" ]] ||
    fail "examples/first printed other primes: $(tail -n 5 said)"
# A bare root has been cut down since its packages delivered it, so some files are missing.
code=0
/opt/moved/bin/weir run examples/integrity/integrity.yaml >said 2>log || code=$?
grep -E '^checked [0-9]+ files' said || fail "examples/integrity: exit code $code: $(cat log)"
((code <= 1)) || fail "examples/integrity: exit code $code: $(cat log)"

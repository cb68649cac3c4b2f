#!/bin/bash
# SPDX-License-Identifier: MIT
# In a bare root with packages: see package.sh.
set -euo pipefail
. /root/readme.sh
cd /root/weir

useradd --create-home --shell /bin/bash somebody
home=/home/somebody
# as_somebody COMMAND: in a shell as a user has it.
as_somebody() {
    setpriv --reuid somebody --regid somebody --init-groups --reset-env \
        bash -euo pipefail -c "export NO_COLOR=1; cd ~; $1" >/root/said 2>&1 </dev/null ||
        fail "$1: exit code $?: $(tail -n 40 /root/said)"
    cat /root/said
}

# until_true COMMAND...: repeats it until it succeeds, at most a minute.
until_true() {
    local i
    for ((i = 0; i < 600; i++)); do
        ! "$@" >/dev/null 2>&1 || return 0
        sleep 0.1
    done
    fail "never true: $*"
}

version_of() { dpkg-query -W -f '${Version}' "$1"; }

apt-get update -qq || fail "no mirror can be reached"

# --- an older version, which runs a host

install_packages /root/older/weir_*.deb /root/older/weir-plugins_*.deb \
    /root/older/weir-plugin-integrity_*.deb
[[ $(version_of weir) == 0.0.9 && -f /usr/share/weir/gone ]] || fail "no older version"
cat >"$home/running.yaml" <<END_OF_FILE
version: 1
host: {control: $home/control}
sources:
  numbers: {use: gen.forever, to: rest, rate: 100/s}
pools:
  rest: {use: sink.null, size: 2}
END_OF_FILE
setpriv --reuid somebody --regid somebody --init-groups weir run "$home/running.yaml" \
    >/root/host.log 2>&1 </dev/null &
host=$!
until_true weir status --control "$home/control"
echo "installed 0.0.9, and started a host"

# --- the upgrade, by the command of the README

commands=$(readme_blocks README.md '## Installing' |
    sed -n 's/^sudo apt install/apt-get install -y -qq/p')
[[ $commands == *'./build/packages/weir*.deb'* ]] || fail "README.md does not install the packages"
bash -euc "$commands" >/root/apt.log 2>&1 || fail "$commands: $(tail -n 20 /root/apt.log)"
[[ $(version_of weir) != 0.0.9 && $(version_of weir-plugins) == $(version_of weir) ]] ||
    fail "not upgraded: $(version_of weir)"
[[ ! -e /usr/share/weir/gone ]] || fail "a file of the older version is left"
! grep -q 'of 0.0.9' /etc/weir/weir.yaml || fail "the configuration was not replaced"
dpkg --verify | grep -i weir && fail "files differ from their package"

kill -0 "$host" || fail "the host ended: $(tail /root/host.log)"
as_somebody "sed -i 's/size: 2/size: 3/' running.yaml
    weir reload --control $home/control" >/root/reload.log
as_somebody "weir status rest --control $home/control" | grep -qw 3 || fail "no reload"
kill -TERM "$host"
code=0
wait "$host" || code=$?
((code == 0 || code == 75)) || fail "the host ended with $code: $(tail /root/host.log)"
echo "upgraded to $(version_of weir) beside a host, which reloaded and ended with $code"

# --- the installed programs work

as_somebody 'weir --version
    weir check /etc/weir/weir.yaml' >/root/check.log
install_packages bash-completion zsh fish python3
code=0
weir run examples/integrity/integrity.yaml >/root/said 2>/root/log || code=$?
((code <= 1)) || fail "integrity: $code: $(cat /root/log)"
grep -E '^checked [0-9]+ files' /root/said
for page in man1/weir.1 man1/weir-reload.1 man5/weir.yaml.5; do
    [[ -f /usr/share/man/$page.gz ]] || fail "no $page"
done
# shellcheck disable=SC2016
completed=$(bash -c '. /usr/share/bash-completion/bash_completion
    _completion_loader weir; [[ $? == 124 ]]
    COMP_WORDS=(weir des) COMP_CWORD=1; _weir; echo "${COMPREPLY[@]}"')
[[ $completed == describe ]] || fail "bash completes weir des as: $completed"
completed=$(fish -c 'complete -C "weir des"' | cut -f 1)
[[ $completed == describe ]] || fail "fish completes weir des as: $completed"
completed=$(zsh -fc 'autoload -Uz compinit; compinit -u -D; echo $_comps[weir]; which _weir')
[[ $completed == _weir$'\n'*autoload* ]] || fail "zsh completes weir with: $completed"
[[ -f /usr/share/doc/weir-doc/html/docs/guide/README.html ]] || fail "no pages of weir-doc"

id weir >/root/id || fail "no user for weir@.service"
grep -qx 'ExecStart=/usr/bin/weir run /etc/weir/%i.yaml' /lib/systemd/system/weir@.service ||
    fail "no unit for systemd"

# --- an author's packages: a plugin from nothing, the one of the README, and a program

as_somebody 'weir new plugin hello' >/root/new.log
# shellcheck disable=SC2046
install_packages ./build/packages/libweir*.deb $(readme_packages "$home/hello/README.md") \
    ninja-build pkgconf zlib1g-dev
[[ -f /usr/share/man/man3/weir_timer.h.3.gz && -e /usr/share/man/man3/weir_after.3.gz ]] ||
    fail "no manual page of a header"
as_somebody 'cd hello
    cmake -B build
    cmake --build build
    ctest --test-dir build
    weir run hello.yaml' >/root/hello.log
grep -q '100% tests passed' /root/hello.log || fail "$(cat /root/hello.log)"
cp -r examples "$home/examples"
chown -R somebody: "$home/examples"
as_somebody 'cmake -G Ninja -S examples/first -B build/first
    cmake --build build/first' >/root/first.log
as_somebody 'weir run examples/first/first.yaml' >/root/primes
primes=$(seq 0 9999 | factor | awk 'NF < 3' | wc -l)
[[ $(grep -cE '^[0-9]+$' /root/primes) == "$primes" ]] ||
    fail "examples/first: $(tail -n 5 /root/primes)"
as_somebody 'echo "10.0.0.1 - ann [23/Nov/2026:13:00:00 +0000] \"GET /a HTTP/1.1\" 200 512" |
    weir run examples/recipes/access.yaml' >/root/json
grep -q '^{"client": "10.0.0.1"' /root/json || fail "access.yaml: $(cat /root/json)"
as_somebody 'cmake -G Ninja -S examples/embed -B build/embed
    cmake --build build/embed
    ctest --test-dir build/embed' >/root/embed.log
grep -q '100% tests passed' /root/embed.log || fail "examples/embed: $(cat /root/embed.log)"
as_somebody 'cd examples/embed && gcc -o ~/pack *.c $(pkg-config --cflags --libs weir zlib)'
as_somebody 'mkdir packed
    ./pack /usr/share/common-licenses packed
    test -s packed/index'
echo "built a plugin, tested and ran it; built a program with libweir"

# --- the page about pools of connections, with a PostgreSQL

# The lines of the page that need another user, as this user.
of_page() {
    local words
    read -ra words <<<"$1"
    case $1 in
    'sudo apt install '*)
        install_packages "${words[@]:3}"
        pg_ctlcluster "$(ls /usr/lib/postgresql)" main start || [[ $? == 2 ]] # it runs already
        until_true setpriv --reuid postgres --regid postgres --init-groups psql -c 'SELECT 1'
        ;;
    'sudo -u postgres '*)
        # shellcheck disable=SC2016
        USER=somebody setpriv --reuid postgres --regid postgres --init-groups \
            bash -euc "cd /; ${1//sudo -u postgres /}" || fail "$1"
        ;;
    *) as_somebody "$1" ;;
    esac
}

readme_blocks database.md '## Run it' >/root/page
[[ -s /root/page ]] || fail "docs/guide/database.md has no commands"
while read -r line; do
    of_page "$line" </dev/null
done </root/page >/root/pgpool.log
grep -q '^1000 transfers made, 0 refused$' /root/pgpool.log ||
    fail "the page's transfers: $(tail -n 40 /root/pgpool.log)"
tail -n 4 /root/pgpool.log | grep -qw 100000 || fail "the sum: $(tail /root/pgpool.log)"
pg_ctlcluster "$(ls /usr/lib/postgresql)" main stop
echo "pooled connections to a PostgreSQL, as the guide says"

# --- removed, installed again, purged

ours() { dpkg-query -W -f '${Package}\n' | grep -E '^(lib)?weir'; }
echo "# mine" >>/etc/weir/weir.yaml
# shellcheck disable=SC2046
apt-get remove -y -qq $(ours) >/root/apt.log 2>&1 || fail "$(tail /root/apt.log)"
[[ ! -e /usr/bin/weir && ! -e /usr/share/weir ]] || fail "files are left after the removal"
install_packages ./build/packages/weir*.deb
grep -qx '# mine' /etc/weir/weir.yaml || fail "the user's configuration is lost"
mkdir -p /etc/systemd/system/multi-user.target.wants # as `systemctl enable weir@shop` makes it
ln -s /lib/systemd/system/weir@.service \
    /etc/systemd/system/multi-user.target.wants/weir@shop.service
# shellcheck disable=SC2046
apt-get purge -y -qq $(ours) >/root/apt.log 2>&1 || fail "$(tail /root/apt.log)"
left=$(find / -xdev \( -path /root -o -path /home -o -path /proc -o -path /var/cache/apt \) -prune \
    -o -iname '*weir*' -print)
[[ -z $left ]] || fail "left after the purge: $left"
echo "removed, installed again with the user's configuration, purged: nothing is left"

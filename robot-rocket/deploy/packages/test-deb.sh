#!/usr/bin/env bash
# Tests the Debian package in a fresh Debian of the release of this machine: lintian, installation with
# its dependencies, the server as its unit starts it, an upgrade, removal and purge. Run as root:
#
#   robot-rocket/deploy/packages/test-deb.sh FOLDER BASE
#
# BASE is a folder that keeps the base system. Exits with status 77 if all is well, except that the
# service was not run by systemd, which does not boot on this machine. Needs the Debian packages debootstrap,
# lintian and systemd-container, and the mirrors of this machine.
set -euo pipefail
packages=$(realpath "$(dirname "$0")")
debs=("$1"/robot-catalogue_*.deb)
deb=${debs[0]}
release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
base=$(realpath --canonicalize-missing "$2")/debian-$release.tar
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
root=$work/root
environment=/etc/robot-rocket.env
unit=$root/lib/systemd/system/robot-rocket.service
scripts=$root/var/lib/dpkg/info/robot-catalogue

fail() {
    echo "$deb: $*" >&2
    exit 1
}

# Runs a command in the new system; what it mounts and starts ends with it.
in_system() {
    # shellcheck disable=SC2016 # The inner shell expands the arguments.
    env PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 \
        unshare --mount --pid --fork --kill-child sh -c \
        'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$root" "$@"
}

# The same, and prints the output only if the command fails.
quietly_in_system() {
    in_system "$@" >"$work/output" 2>&1 || {
        cat "$work/output" >&2
        fail "'$*' failed in a fresh system"
    }
}

# Address, release and component of each of Debian's archives that this machine uses.
mirrors() {
    # shellcheck disable=SC2016 # apt-get expands these names.
    apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
        sort --unique
}

create_system() {
    local mirror
    if [ ! -f "$base" ]; then
        mirror=$(mirrors | awk -v release="$release" '$2 == release { print $1; exit }')
        [ -n "$mirror" ] || fail "apt has no archive of Debian $release; run 'apt-get update' and start again"
        debootstrap --variant minbase "$release" "$work/base" "$mirror" >"$work/output" 2>&1 || {
            tail -20 "$work/output" >&2
            fail "debootstrap could not install Debian $release from $mirror"
        }
        mkdir -p "$(dirname "$base")"
        tar --create --file "$base.new" --directory "$work/base" --numeric-owner .
        mv "$base.new" "$base"
        rm -rf "$work/base"
    fi
    mkdir "$root"
    tar --extract --file "$base" --directory "$root" --same-owner --numeric-owner
    mirrors | sed 's/^/deb /' >"$root/etc/apt/sources.list"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    quietly_in_system apt-get update
}

# Installs a package file with its dependencies, and without what they only recommend. dpkg cannot ask questions,
# because there is no terminal. The other arguments are options of apt-get.
install_package() {
    cp "$1" "$root/tmp/package.deb"
    shift
    quietly_in_system apt-get install --yes --no-install-recommends "$@" /tmp/package.deb </dev/null
}

# The values of a key of the unit.
of_unit() { sed -n "s/^$1=//p" "$unit"; }

# Starts the server as systemd would, without its restrictions, and uses it.
use_server() {
    local user state variables
    user=$(of_unit User)
    state=$root/var/lib/$(of_unit StateDirectory)
    [ -d "$state" ] || in_system install -d -m "$(of_unit StateDirectoryMode)" -o "$user" -g "$user" "${state#"$root"}"
    mapfile -t variables < <(of_unit Environment && grep -v '^#' "$root$environment" | grep .)
    "$packages/try-server.sh" "$root" "$user:$user" "$(of_unit ExecStart)" PATH=/usr/bin "${variables[@]}"
}

# The number of robots in the database of the service.
robots() {
    in_system robot-cli --database sqlite:///var/lib/robots/robots.db list --format ndjson | wc -l
}

# Creates the package $1.deb of a later version, with the text $2 at the end of its example configuration.
later_version() {
    dpkg-deb --raw-extract "$deb" "$work/$1"
    sed -i "s/^Version: .*/&.$1/" "$work/$1/DEBIAN/control"
    printf %s "$2" >>"$work/$1$environment"
    dpkg-deb --build --root-owner-group "$work/$1" "$work/$1.deb" >/dev/null
}

# Fails unless the settings and the robots are the same as before an upgrade.
expect_unchanged() {
    cmp "$work/environment" "$root$environment" || fail "an upgrade has changed $environment"
    [ "$(robots)" -eq "$before" ] || fail "there were $before robots before the upgrade, and now there are $(robots)"
}

lintian --fail-on error,warning,info "$deb" || fail "lintian has found problems"
create_system
install_package "$deb"

for name in robot-rocket robot-backup; do
    in_system systemd-analyze verify --man=no "/lib/systemd/system/$name.service" || fail "the unit $name has mistakes"
    systemd-analyze security --offline=true --threshold=20 "$root/lib/systemd/system/$name.service" >"$work/output" || {
        cat "$work/output" >&2
        fail "the unit $name restricts its programs too little"
    }
done
[ "$(in_system systemctl is-enabled robot-rocket)" = enabled ] || fail "the service is not enabled"
[ "$(in_system systemctl is-enabled robot-backup.timer || true)" = disabled ] || fail "backups are enabled"
# systemd, which would start and stop them, does not run here.
for unit_name in robot-rocket.service robot-backup.timer; do
    grep --quiet "deb-systemd-invoke .*'$unit_name'" "$scripts.postinst" || fail "an upgrade stops $unit_name"
    grep --quiet "deb-systemd-invoke stop '$unit_name'" "$scripts.prerm" || fail "a removal does not stop $unit_name"
done
[ "$(stat --format '%a %U' "$root$environment")" = '600 root' ] || fail "other users can read $environment"
in_system robot-rocket --check >/dev/null || fail "the settings of a new installation are invalid"
for page in robot-rocket.8 robot-cli.1 robot-cli-import.1; do
    [ -s "$root/usr/share/man/man${page##*.}/$page.gz" ] || fail "the manual page $page is missing"
done
use_server
# systemd-run needs it, which the documents use.
quietly_in_system apt-get install --yes --no-install-recommends dbus
status=0
"$packages/test-service.sh" "$root" || status=$?
[[ $status = 0 || $status = 77 ]] || fail "the service does not work"

echo 'ROCKET_BEHAVIOUR=B' >>"$root$environment"
cp "$root$environment" "$work/environment"
before=$(robots)
# dpkg asks no question if the package has the same example as before.
later_version later-1 ''
install_package "$work/later-1.deb"
expect_unchanged
# Otherwise, the option answers the question, as the document says.
later_version later-2 $'# A new setting.\n'
install_package "$work/later-2.deb" -o Dpkg::Options::=--force-confold
expect_unchanged
grep --quiet '^# A new setting' "$root$environment.dpkg-dist" || fail "an upgrade has discarded the new example"
use_server

quietly_in_system apt-get remove --yes robot-catalogue
[ ! -e "$root/usr/bin/robot-rocket" ] || fail "the server still exists after removal"
[ -s "$root/var/lib/robots/robots.db" ] || fail "the robots are lost after removal"
cmp "$work/environment" "$root$environment" || fail "$environment is lost after removal"
quietly_in_system apt-get purge --yes robot-catalogue
[ ! -e "$root/var/lib/robots" ] || fail "the robots still exist after a purge"
[ ! -e "$root$environment" ] || fail "$environment still exists after a purge"
exit "$status"

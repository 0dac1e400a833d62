#!/usr/bin/env bash
# Tests the tarball in an empty directory, which is the root directory of its programs. Run as root:
#
#   robot-rocket/deploy/packages/test-tarball.sh FOLDER
set -euo pipefail
packages=$(realpath "$(dirname "$0")")
tarballs=("$1"/robot-catalogue-*-linux.tar.gz)
tarball=${tarballs[0]}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$tarball: $*" >&2
    exit 1
}

tar --list --verbose --numeric-owner --file "$tarball" >"$work/list"
[ "$(awk '{ print $2, $4, $5 }' "$work/list" | sort --unique | wc -l)" -eq 1 ] ||
    fail "the files have different owners or times"
awk '{ print $6 }' "$work/list" | LC_ALL=C sort --check || fail "the files are not sorted"

mkdir "$work/root"
tar --extract --file "$tarball" --directory "$work/root" --strip-components=1
for file in docs/{README.md,install.md,recover.md,page.png} docs/examples/{nginx.conf,prometheus-alerts.yml} LICENSE-MIT LICENSE-APACHE THIRD-PARTY-LICENCES robot-rocket.service robot-rocket.sysusers \
    man/robot-rocket.8 man/robot-cli.1 man/robot-cli-import.1 completions/{robot-cli,_robot-cli,robot-cli.fish}; do
    [ -s "$work/root/$file" ] || fail "$file is missing or empty"
done
(cd "$work/root/docs" && grep --only-matching --no-filename --perl-regexp '\]\(\K[^)#:]+(?=[)#])' ./*.md | sort --unique) >"$work/links"
[ "$(wc -l <"$work/links")" -gt 10 ] || fail "the documents have no links to each other"
while read -r link; do
    [ -e "$work/root/docs/$link" ] || fail "a document has a link to $link, which is missing"
done <"$work/links"
for program in robot-rocket robot-cli; do
    if readelf --program-headers "$work/root/$program" | grep --quiet INTERP; then
        fail "$program is not linked statically"
    fi
done

mkdir "$work/root/etc"
echo '127.0.0.1 db.example' >"$work/root/etc/hosts"
for url in {postgres,mysql}://robots:secret@db.example:1/robots; do
    message=$(/usr/sbin/chroot "$work/root" /robot-cli --database "$url" list 2>&1) && fail "robot-cli opens $url"
    [[ $message = *refused* ]] || fail "robot-cli does not connect to the host in $url: $message"
done

mkdir --mode 700 "$work/root/data"
chown 65534:65534 "$work/root/data"
chmod 755 "$work"
"$packages/try-server.sh" "$work/root" 65534:65534 /robot-rocket PATH=/ DATABASE_URL=sqlite:///data/robots.db

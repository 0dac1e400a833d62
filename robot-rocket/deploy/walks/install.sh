#!/usr/bin/env bash
# Installation from the tarball: in its folder, and as a service. The Debian package is installed by test-deb.sh.
#
#   robot-rocket/deploy/walks/install.sh PACKAGES
#
# PACKAGES is the folder of ../packages/build.sh.
# shellcheck source=robot-rocket/deploy/walks/walk.sh
source "$(dirname "$0")/walk.sh"
follow 'Tarball'

tarballs=("$1"/robot-catalogue-*-linux.tar.gz)
tarball=${tarballs[0]##*/}
cp "${tarballs[0]}" .
# The version and the processor of this machine.
substitute robot-catalogue-0.1.0-x86_64-linux "${tarball%.tar.gz}"
run 'tar *'
run 'cd *'
run './robot-rocket *' >"$log" 2>&1 &
process=$!
within_a_minute serves
add 'in the folder'
[ -s robots.db ] || fail "there is no file of robots in the folder"
kill -TERM "$(cut -d' ' -f1 "/proc/$process/task/$process/children")"
wait "$process" || fail "the server has ended with status $?"

rm -rf /etc/robot-rocket.env
run 'sudo install -m 755*'
run 'sudo install -D*'
run 'sudo install -m 600*'
run 'sudo install -m 644*'
run 'sudo systemd-sysusers' 2>/dev/null
run 'sudo systemctl daemon-reload'
run 'sudo systemctl enable*'
within_a_minute robot-rocket --ready
add 'as a service'
url=sqlite:///var/lib/robots/robots.db
[ "$(robots)" = '1 as a service' ] || fail "the robots are: $(robots)"
[ "$(stat --format %U /var/lib/robots/robots.db)" = robot-rocket ] || fail "the file belongs to another user"
[ "$(stat --format '%a %U' /etc/robot-rocket.env)" = '600 root' ] || fail "other users can read the settings"
systemctl stop robot-rocket
finish

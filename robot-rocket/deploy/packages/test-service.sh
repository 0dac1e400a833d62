#!/usr/bin/env bash
# Boots systemd in the root directory of a Debian with the package, and tests the service with all of
# its restrictions. Run as root:
#
#   robot-rocket/deploy/packages/test-service.sh ROOT
#
# Exits with status 77 if systemd does not boot on this machine, as in many containers. Needs the Debian
# package systemd-container, and in the folder the package dbus.
set -euo pipefail
root=$1
url=http://127.0.0.1:8000
log=$(mktemp)
booted=""
trap 'stop; rm -f "$log"' EXIT

stop() {
    [ -z "$booted" ] || kill -KILL "$booted" 2>/dev/null || true
}

# Runs a command in the booted system.
inside() {
    nsenter --target "$leader" --mount --net --pid --uts --ipc --root --wd="/proc/$leader/root" "$@"
}

# Runs a command of this machine in the network of the booted system.
in_network() {
    nsenter --target "$leader" --net "$@"
}

fail() {
    inside systemctl status --no-pager --full robot-rocket >&2 || true
    echo "The service, run by systemd: $*" >&2
    exit 1
}

# Waits for at most a minute until a command succeeds.
within_a_minute() {
    local end=$((SECONDS + 60))
    until "$@" >/dev/null 2>&1; do
        kill -0 "$booted" 2>/dev/null && [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.2
    done
}

has_booted() {
    leader=$(cut -d' ' -f1 "/proc/$booted/task/$booted/children") && [ -n "$leader" ] &&
        inside systemctl is-active multi-user.target
}

options=(--quiet --register=no --private-network --machine "robots-$$" --directory "$root" --boot)
# Without systemd on this machine, there is no unit to create.
[ -d /run/systemd/system ] || options+=(--keep-unit)
systemd-nspawn "${options[@]}" </dev/null >"$log" 2>&1 &
booted=$!
within_a_minute has_booted || {
    tail -5 "$log" >&2
    echo "systemd does not boot in $root on this machine" >&2
    exit 77
}

within_a_minute in_network curl --silent --fail --max-time 5 "$url/readyz" || fail "it is not ready"
answer=$(in_network curl --silent --show-error --max-time 10 \
    --data '{"name":"under systemd","type":"droid","year":1977}' "$url/api/robots")
[[ $answer = '{"status":"OK",'* ]] || fail "the robot was not added: $answer"

process=$(inside systemctl show --property MainPID --value robot-rocket)
[ "$(inside stat --format %U "/proc/$process")" = robot-rocket ] || fail "it has another user"
inside grep --quiet '^Seccomp:\s2$' "/proc/$process/status" || fail "its system calls are not restricted"

inside systemctl reload robot-rocket || fail "reload fails"
within_a_minute in_network curl --silent --fail --max-time 5 "$url/readyz" || fail "it is not ready after a reload"
[ "$(inside systemctl show --property MainPID --value robot-rocket)" = "$process" ] || fail "reload has restarted it"
inside sh -c 'echo ROCKET_PORT=wrong >>/etc/robot-rocket.env'
if inside systemctl reload robot-rocket 2>/dev/null; then fail "reload does not report wrong settings"; fi
inside sed -i '/^ROCKET_PORT=wrong$/d' /etc/robot-rocket.env
inside systemctl reload robot-rocket || fail "reload fails after the settings were corrected"
[ "$(inside systemctl show --property MainPID --value robot-rocket)" = "$process" ] || fail "wrong settings have stopped it"

# The command that the documents use for the URL of the store. The last line of settings takes precedence.
command=$(sed -n '/^export DATABASE_URL=/,/^```$/p' "$root/usr/share/doc/robot-catalogue/recover.md" | sed '/^```$/d')
cp -p "$root/etc/robot-rocket.env" "$root/etc/robot-rocket.env.before"
inside sh -c 'printf "%s\n" ROCKET_DATABASE_URL=memory: "ROCKET_DATABASE_URL=\"postgres://db/robots?a=b&c=d\"" \
    DATABASE_URL=memory: >>/etc/robot-rocket.env'
address=$(inside sh -c "$command; printenv DATABASE_URL") || fail "the URL of the store cannot be read"
[ "$address" = 'postgres://db/robots?a=b&c=d' ] || fail "the URL of the store is $address"
mv "$root/etc/robot-rocket.env.before" "$root/etc/robot-rocket.env"
address=$(inside sh -c "$command; printenv DATABASE_URL") || fail "the URL of the store cannot be read"
[ "$address" = sqlite:///var/lib/robots/robots.db ] || fail "the URL of the store is $address by default"

inside systemctl start robot-backup || fail "a backup fails"
# shellcheck disable=SC2016 # The shell inside expands the name of the backup.
inside sh -c 'robot-cli --database "sqlite://$(echo /var/lib/robot-backups/robots-*.db)" list' |
    grep 'under systemd' >/dev/null || fail "the backup is incomplete"

inside systemctl stop robot-rocket
[ "$(inside systemctl show --property Result --value robot-rocket)" = success ] || fail "it does not stop"
# The signal that makes systemd switch the system off.
kill -s RTMIN+4 "$leader"
wait "$booted" || true
booted=""

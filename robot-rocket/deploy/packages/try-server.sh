#!/usr/bin/env bash
# Starts a server with a folder as its root directory, uses server and command line, and stops both. Run as root:
#
#   robot-rocket/deploy/packages/try-server.sh ROOT USER:GROUP COMMAND [NAME=VALUE]...
#
# COMMAND is that of the server, and the rest its environment. It runs in a network of its own, so
# that the default port is free, and nothing keeps running after the script.
set -euo pipefail
if [ "${1:-}" != --inside ]; then
    exec unshare --net --pid --fork --kill-child "$0" --inside "$@"
fi
root=$2 user=$3 command=$4
shift 4
environment=("$@")
url=http://127.0.0.1:8000

fail() {
    printf '%s\nThe log of the server:\n' "$*" >&2
    cat "$log" >&2
    exit 1
}

# What runs a command in the folder as the user.
run=(env --ignore-environment "${environment[@]}" /usr/sbin/chroot --userspec "$user" "$root")

log=$(mktemp)
trap 'rm -f "$log"' EXIT
ip link set lo up

"${run[@]}" "$command" >"$log" 2>&1 &
server=$!
until curl --silent --fail --max-time 5 "$url/readyz" >/dev/null; do
    kill -0 "$server" 2>/dev/null || fail "The server has ended."
    ((SECONDS < 60)) || fail "The server is not ready after 60 seconds."
    sleep 0.2
done
"${run[@]}" "$command" --ready || fail "--ready reports that the server is not ready."
name="robot $(date +%s%N)"
answer=$(curl --silent --show-error --max-time 10 --data "{\"name\":\"$name\",\"type\":\"droid\",\"year\":1977}" "$url/api/robots")
[[ $answer = '{"status":"OK",'* ]] || fail "The robot was not added: $answer"
"${run[@]}" robot-cli list | grep --fixed-strings "$name" >/dev/null || fail "robot-cli does not list '$name'."
"${run[@]}" robot-cli check >/dev/null || fail "robot-cli check has found problems."
curl --silent --fail --max-time 10 "$url/" | grep "<html" >/dev/null || fail "The web page is missing."

kill -TERM "$server"
wait "$server" || fail "The server has ended with status $? after SIGTERM."
if "${run[@]}" "$command" --ready 2>/dev/null; then fail "--ready reports that a stopped server is ready."; fi

# shellcheck shell=bash
# Shared part of the walks, which follow a procedure of the operations documents as an operator would: as root,
# with its own commands, on a system with a private network, /etc, /var/lib and /usr/local/bin. Everything that
# a walk starts ends with it.
#
# A walk names the sections that it follows. `run` executes a command of them, which is taken from the documents;
# `finish` fails unless every command of these sections was executed. So neither can change without the other.
#
# Sourced by the walks, whose arguments are folders, the first usually one with robot-rocket and robot-cli. Needs
# root, and the Debian packages iproute2, jq, curl, openssl and systemd.
set -euo pipefail
walks=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
deploy=${walks%/*}
documents=("$deploy"/../docs/operations/*.md)
servers=$deploy/../../robot-core/tests/servers.sh

if [ -z "${WALK_FOLDER-}" ]; then
    WALK_FOLDER=$(mktemp -d)
    trap 'rm -rf "$WALK_FOLDER"' EXIT
    export WALK_FOLDER
    mapfile -t folders < <(realpath "$@")
    unshare --mount --net --pid --fork --kill-child --mount-proc bash "$0" "${folders[@]}"
    exit
fi

work=$WALK_FOLDER
log=$work/log
# shellcheck disable=SC2034 # The walks use it.
programs=$1
site=http://127.0.0.1:8000
commands=() needed=() substitutions=()

fail() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    [ ! -s "$log" ] || { echo 'The end of the log:' && tail -n 20 "$log" | cut -c 1-300; } >&2
    exit 1
}
trap 'fail "$BASH_COMMAND (lines $LINENO ${BASH_LINENO[*]}) failed"' ERR
set -o errtrace

# Waits for at most a minute until a command succeeds.
within_a_minute() {
    local end=$((SECONDS + 60))
    until "$@" >/dev/null 2>&1; do
        ((SECONDS < end)) || fail "still fails after a minute: $*"
        sleep 0.2
    done
}

# --- Commands of the documents

# The lines of code for shells in a section, without the indentation of a list.
code_of() {
    awk -v heading="$1" '
        !code && /^#+ / { name = $0; sub(/^#+ /, "", name); inside = name == heading }
        !inside { next }
        code && /^ *```$/ { code = 0; next }
        code { print substr($0, indentation); next }
        /^ *```sh$/ { code = 1; indentation = index($0, "`") }
    ' "${documents[@]}"
}

# Adds the commands of a section. Those of `follow` must be executed, those of `consult` can be.
follow() {
    needed+=("$1")
    consult "$1"
}

consult() {
    local line command="" count=${#commands[@]}
    while IFS= read -r line; do
        command+=$line
        # A command ends with the first line after which it is complete.
        if [[ $line != *\\ ]] && bash -n <<<"$command" 2>/dev/null; then
            [[ $command = \#* ]] || commands+=("$1: $command")
            command=""
        else
            command+=$'\n'
        fi
    done < <(code_of "$1")
    [ ${#commands[@]} -gt "$count" ] || fail "the documents have no commands in the section '$1'"
}

# From now on, commands have the text $2 where the documents have $1.
substitute() { substitutions+=("$1" "$2"); }

# Executes the command that matches a pattern.
run() {
    local command found="" index
    for command in "${commands[@]}"; do
        command=${command#*: }
        # shellcheck disable=SC2053 # It is a pattern.
        [[ $command = $1 ]] || continue
        [[ -z $found || $found = "$command" ]] || fail "several commands of the documents match '$1'"
        found=$command
    done
    [ -n "$found" ] || fail "no command of the documents matches '$1'"
    printf '%q\n' "$found" >>"$work/executed"
    for ((index = 0; index < ${#substitutions[@]}; index += 2)); do
        found=${found//"${substitutions[index]}"/"${substitutions[index + 1]}"}
    done
    printf '$ %s\n' "$found" >&2
    eval "$found"
}

# Ends the walk.
finish() {
    local command section
    for command in "${commands[@]}"; do
        for section in "${needed[@]}"; do
            [[ $command = "$section: "* ]] || continue
            grep --quiet --line-regexp --fixed-strings "$(printf '%q' "${command#*: }")" "$work/executed" ||
                fail "the walk has not executed this command of the documents: $command"
        done
    done
    echo "$(basename "$0"): every command was executed, and had the effect that the documents describe"
}

# --- The system

# What systemd does with the unit: it does not run here.
systemctl() {
    case "$*" in
    daemon-reload | 'disable --now robot-backup.timer') ;;
    'start robot-rocket' | 'enable --now robot-rocket') start_service ;;
    'stop robot-rocket') stop_service ;;
    'reload robot-rocket' | 'try-reload-or-restart robot-rocket') reload_service ;;
    'show --property Environment --value robot-rocket') of_unit Environment ;;
    *) fail "the walks have no 'systemctl $*'" ;;
    esac
}

# What systemd-run does with these properties, which have no quotes here.
systemd-run() {
    local environment=() user=root
    while [[ $1 = --* ]]; do
        case "$1 $2" in
        '--property User='*) user=${2#User=} ;;
        '--property Environment='*) environment+=("${2#Environment=}") ;;
        '--property EnvironmentFile=-'*)
            mapfile -t -O "${#environment[@]}" environment < <(assignments "${2#EnvironmentFile=-}")
            ;;
        '--property '*) fail "the walks have no systemd-run with $2" ;;
        esac
        [ "$1" != --property ] || shift
        shift
    done
    env --ignore-environment PATH=/usr/local/bin:/usr/bin "${environment[@]}" \
        setpriv --reuid="$user" --regid="$user" --clear-groups "$@"
}

journalctl() { tail -n "${*: -1}" "$log"; }

sudo() { "$@"; }

# The process of the service.
service() { cat "$work/pid"; }

# The values of a key of the unit.
of_unit() { sed -n "s/^$1=//p" /etc/systemd/system/robot-rocket.service; }

# The lines NAME=VALUE of a file of settings.
assignments() { sed '/^#/d; /^$/d' "$1"; }

# Executes a command of the unit as its user, with its environment.
execute_in_unit() {
    local user environment
    user=$(of_unit User)
    mapfile -t environment < <(of_unit Environment && assignments /etc/robot-rocket.env)
    cd /
    # shellcheck disable=SC2016 # The inner shell expands it.
    exec env --ignore-environment PATH=/usr/local/bin:/usr/bin "${environment[@]}" \
        setpriv --reuid="$user" --regid="$user" --clear-groups \
        sh -c "umask $(of_unit UMask)"'; exec "$@"' sh "$@" </dev/null >>"$log" 2>&1
}

start_service() {
    local user
    user=$(of_unit User)
    install -d -m "$(of_unit StateDirectoryMode)" -o "$user" -g "$user" "/var/lib/$(of_unit StateDirectory)"
    (execute_in_unit "$(of_unit ExecStart)") &
    echo $! >"$work/pid"
}

# Executes the commands of the unit for a reload, until one fails.
reload_service() {
    local line
    while IFS= read -r line; do
        # That of the shell, because not every system has the program.
        if [[ $line = "kill -HUP \$MAINPID" ]]; then
            kill -HUP "$(service)"
        else
            (execute_in_unit sh -c "$line") || return 1
        fi
    done < <(of_unit ExecReload)
}

stop_service() {
    kill -TERM "$(service)"
    wait "$(service)" || fail "the service has ended with status $?"
}

is_running() { kill -0 "$(service)" 2>/dev/null; }

# Installs the service with the programs of a folder, and without settings.
install_service() {
    install -m 755 "$1/robot-rocket" "$1/robot-cli" /usr/local/bin/
    install -m 644 "$deploy/robot-rocket.service" /etc/systemd/system/
    systemd-sysusers "$deploy/robot-rocket.sysusers" 2>/dev/null
    install -m 600 /dev/null /etc/robot-rocket.env
    rm -rf /var/lib/robots
}

setting() { echo "$1" >>/etc/robot-rocket.env; }

# --- Stores and robots

# Starts a new database server for the service, unless the store is sqlite, and leaves its URL in $url. Commands
# of the documents get its address and password.
new_store() {
    unset DATABASE_URL
    substitutions=()
    url=sqlite:///var/lib/robots/robots.db
    [ "$1" != sqlite ] || return 0
    database=$(mktemp --directory "$work/$1-XXXXXX")
    url=$(SERVERS_OWNER=$$ SERVERS_DEFAULTS=usual "$servers" start "$1" "$database")
    substitute postgres://robots:secret@db.example/robots "$url"
    substitute '--host=db.example --user=robots --password' \
        "--host=127.0.0.1 --port=$(cat "$database/port") --user=robots --password=robots"
}

# Lines `ID NAME` of all robots, in their order.
robots() { robot-cli --database "$url" list --format csv | sed 1d | cut -d, -f1,2 | tr , ' ' | sort; }

# Adds a robot through the server, and prints its id.
add() {
    curl --silent --max-time 10 --data "{\"name\":\"$1\",\"type\":\"droid\",\"year\":1977}" "$site/api/robots" |
        jq --exit-status --raw-output .data.id 2>/dev/null
}

serves() { [ "$(curl --silent --output /dev/null --max-time 5 --write-out '%{http_code}' "$site/api/robots?limit=1")" = 200 ]; }

# Adds robots through the server until the file $work/enough exists, and prints `ID NAME` of those that it
# has acknowledged. Those whose outcome is unknown are not repeated.
write_robots() {
    local number=0 id
    while [ ! -e "$work/enough" ]; do
        number=$((number + 1))
        if id=$(add "$1-$number"); then echo "$id $1-$number"; else sleep 0.05; fi
    done
}

# Fails unless the catalogue has all robots of the sorted files.
has_all_of() {
    local missing
    robots >"$work/now"
    missing=$(sort "$@" | comm -23 - "$work/now")
    [ -z "$missing" ] || fail "$(wc -l <<<"$missing") robots are missing: $(head -3 <<<"$missing" | paste -sd,)"
}

# Fails unless new ids are greater than $1.
assigns_ids_after() {
    local id
    id=$(add "after $1") || fail "no robot can be added"
    ((id > $1)) || fail "the id $id was assigned again after $1"
}

# --- Tokens and certificates

# Prints a new token with the name $1, and leaves its entry for the server in `entry`.
new_token() {
    robot-cli token new write --name "$1" >output
    grep --only-matching "write:$1:sha256:[0-9a-f]*" output | head -1 >entry
    grep --only-matching --max-count 1 '^ *robots_[0-9a-f]*' output | tr -d ' '
}

# Creates a certificate for $1 days, or one that has expired for -1, as new-chain.pem and new-key.pem.
new_certificate() {
    openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=robots.example \
        -keyout new-key.pem -out request.pem 2>/dev/null
    openssl x509 -req -in request.pem -signkey new-key.pem -days "$1" \
        -extfile <(echo subjectAltName=DNS:robots.example) -out new-chain.pem 2>/dev/null
}

chmod 755 "$work"
ip link set lo up
cp -a /etc "$work/etc"
mount --bind "$work/etc" /etc
for folder in /var/lib /usr/local/bin; do
    mkdir -p "$work$folder"
    mount --bind "$work$folder" "$folder"
done
cd "$work"
touch "$log" "$work/executed"

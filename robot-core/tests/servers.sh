#!/usr/bin/env bash
# Private database servers for tests, each in a folder of its own and on a free loopback port.
#
#   servers.sh start postgres|mariadb DIR   starts a server, a new one if there is none in DIR;
#                                           prints its URL, which never changes
#   servers.sh standby PRIMARY DIR [PORT]   adds a synchronous standby to PostgreSQL, which connects to
#                                           this port (of a relay) instead of the primary's; its URL
#   servers.sh promote DIR                  makes a standby the primary
#   servers.sh galera DIR COUNT             a Galera cluster, in DIR/1 and so on; all URLs
#   servers.sh patroni DIR                  a Patroni cluster with two nodes, in DIR/1 and DIR/2; a
#                                           URL with both
#   servers.sh role DIR                     prints the role of a node of Patroni: primary,
#                                           synchronous (standby), replica or none
#   servers.sh join DIR N                   starts a node again while others run; its URL
#   servers.sh pgbouncer SERVER DIR MODE    a PgBouncer in front of PostgreSQL that pools in a mode:
#                                           session, transaction or statement; its URL
#   servers.sh tls DIR CERTIFICATE KEY      starts a server again, with TLS for clients that ask for it
#   servers.sh without-tls DIR              starts it again without TLS
#   servers.sh pid DIR                      prints the id of the server's main process
#   servers.sh signal NAME DIR              sends KILL, STOP, CONT, TERM or QUIT to all its processes;
#                                           waits until they have ended after KILL and QUIT
#   servers.sh sql DIR STATEMENT            runs a statement as PostgreSQL's superuser, and prints the rows
#   servers.sh stop DIR                     stops what runs in DIR, or in folders of it
#
# User, password and database are `robots`. The user is no superuser, but may create schemas
# (PostgreSQL), and databases with names that start with `robots` (MariaDB), which the user `reader`
# may read. Session settings have unusual defaults, and errors are in German, so that tests notice
# if a program relies on the usual defaults; with SERVERS_DEFAULTS=usual, a new server has the usual ones. Settings that only an
# administrator can change are right for durable commits.
#
# A server ends when its folder is deleted, or when the process ends whose id was in SERVERS_OWNER
# when it was created. Requires Debian's packages postgresql and mariadb-server, and for some kinds
# others, which it names.
set -euo pipefail
umask 022
self=$(realpath "${BASH_SOURCE[0]}")
# The servers are in /usr/sbin, which may be missing in PATH.
export PATH="$PATH:/usr/sbin:/sbin" LC_ALL=C.UTF-8
# Each kind of server has a file.
for part in "${self%.sh}"/*.sh; do source "$part"; done
# Ignore settings of the caller for other servers.
unset LANGUAGE "${!PG@}" "${!MYSQL@}" "${!MARIADB@}"
timeout=60 # Seconds for a server to start or to join others; half of it to stop.

fail() {
    printf 'servers.sh: %s\n' "$*" >&2
    exit 1
}

# Fails with the last lines of the log of the server in DIR.
fail_with_log() {
    tail -n 25 "$1/log" >&2 || true
    fail "$2"
}

need() {
    type -P "$1" >/dev/null || fail "$1 is missing: install Debian's package $2."
}

# Sets the variables that depend on the kind of server: the folder of its programs (bin), the user
# that it runs as (user), and the prefix that runs a command as that user (as). The servers refuse
# to run as root.
choose() {
    local package
    case $1 in
    postgres | patroni | etcd | pgbouncer)
        package=postgresql user=postgres
        # Debian has a folder for each version, none of them in PATH.
        bin=$(printf '%s\n' /usr/lib/postgresql/*/bin/postgres | sort -V | tail -n 1)
        need "$bin" "$package"
        bin=${bin%/*}
        ;;
    mariadb)
        package=mariadb-server user=mysql
        need mariadbd "$package"
        need mariadb mariadb-client
        ;;
    *) fail "a server is of the kind postgres or mariadb, not '$1'." ;;
    esac
    if [ "$(id -u)" -eq 0 ]; then
        id "$user" >/dev/null 2>&1 || fail "the user $user is missing: install Debian's package $package."
        as=(setpriv "--reuid=$user" "--regid=$(id -g "$user")" --init-groups)
    else
        user=$(id -un)
        as=()
    fi
}

# The processes of the server in DIR: those whose working directory is its data folder, even if
# their parent has died or the folder is deleted. Runs as their user, since root may not have the
# permission in a container.
processes() {
    "${as[@]}" find /proc/[0-9]*/cwd -maxdepth 0 -lname "$1/data*" -printf '%h\n' 2>/dev/null |
        cut -d / -f 3 || true
}

# The main process of the server in DIR. Fails if it does not run.
main() {
    [ -e "$1/pid" ] && processes "$1" | grep -Fx "$(cat "$1/pid")"
}

# Sends a signal to all processes of the server in DIR. They may end meanwhile.
signal() {
    local pids=() before
    while
        before=${pids[*]}
        mapfile -t pids < <(processes "$2")
        [ ${#pids[@]} -eq 0 ] || kill "-$1" "${pids[@]}" 2>/dev/null || true
        # One that was not stopped yet may have started another.
        [ "$1" = STOP ] && [ "${pids[*]}" != "$before" ]
    do :; done
}

# Kills all processes of the server in DIR, and waits until its files and its port are free.
kill_all() {
    local end=$((SECONDS + timeout)) file
    while [ -n "$(processes "$1")" ]; do
        [ $SECONDS -lt $end ] || fail "the processes of the server in $1 cannot be killed."
        signal KILL "$1"
        sleep 0.05
    done
    # PostgreSQL does not start next to a zombie, and a killed server leaves shared memory.
    for file in "$1"/data/{,postgres/}postmaster.pid; do
        [ -e "$file" ] || continue
        awk 'NR == 7 { print $1 }' "$file" | xargs -r "${as[@]}" ipcrm -M 2>/dev/null || true
        rm -f "$file"
    done
}

# A free port that is none of the arguments. It is below the ephemeral ports, so that no client
# has it when the server starts again.
free_port() {
    local port
    while port=$((15000 + RANDOM % 17000)); do
        [[ " $* " != *" $port "* ]] || continue
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
    done
    echo "$port"
}

# Makes a folder that the servers' user can reach.
make_folder() {
    mkdir -p "$1"
    [ -z "$(ls -A "$1")" ] || [ -e "$1/kind" ] || fail "$1 has files of something else."
    chmod a+x "$1"
    # Only its owner can enter a temporary folder.
    if ! "${as[@]}" test -x "$1" && [ -O "${1%/*}" ]; then chmod a+x "${1%/*}"; fi
    "${as[@]}" test -x "$1" ||
        fail "the user $user cannot reach $1: take a folder in /tmp, or 'chmod a+x' those above it."
}

# Creates the folder for a server of a kind. Its data are created in DIR/new, which is renamed when
# it is complete.
prepare() {
    make_folder "$2"
    rm -rf "$2/new" "$2/tmp"
    mkdir -m 700 "$2/new" "$2/tmp"
    chown "$user" "$2/new" "$2/tmp"
    echo "${SERVERS_OWNER-}" >"$2/owner"
    echo "$1" >"$2/kind"
}

# Runs a command as the server in DIR, in a session of its own, which Ctrl-C does not reach.
launch() {
    local dir=$1
    shift
    cd "$dir/data"
    setsid "${as[@]}" "$@" </dev/null >>"$dir/log" 2>&1 &
    cd /
    echo $! >"$dir/pid"
    setsid bash "$self" watch "$(cat "$dir/kind")" "$dir" $! "$(cat "$dir/owner")" </dev/null >/dev/null 2>&1 &
}

# Ends the server in DIR with the main process PID when its folder or its owner no longer exists.
watch() {
    local dir=$2 pid=$3 owner=$4
    choose "$1"
    while sleep 1; do
        if [ ! -e "$dir/pid" ] || [ ! -e "/proc/${owner:-self}" ]; then
            # QUIT lets PostgreSQL free its shared memory.
            signal CONT "$dir"
            signal QUIT "$dir"
            sleep 1
            kill_all "$dir"
        fi
        [ "$(main "$dir")" = "$pid" ] || break
    done
}

# Waits until a check succeeds, unless the server in DIR ends before.
await() {
    local pid end=$((SECONDS + timeout))
    pid=$(cat "$1/pid")
    shift
    until "$@"; do
        kill -0 "$pid" 2>/dev/null && [ $SECONDS -lt $end ] || return 1
        sleep 0.1
    done
}

# Starts the server in DIR with further arguments, and waits until it serves.
boot() {
    # If the main process was killed, others may still run.
    kill_all "$1"
    "boot_$(cat "$1/kind")" "$@"
}

# Fails because the server in DIR did not start.
give_up() {
    kill_all "$1"
    fail_with_log "$1" "the server in $1 did not start."
}

start() {
    local kind=$1 dir=$2 attempt
    choose "$kind"
    if [ -d "$dir/data" ]; then
        [ "$(cat "$dir/kind")" = "$kind" ] || fail "the server in $dir is not of the kind $kind."
        main "$dir" >/dev/null || boot "$dir" || give_up "$dir"
    else
        prepare "$kind" "$dir"
        "create_$kind" "$dir"
        mv "$dir/new" "$dir/data"
        # The server ends if another process takes the port first.
        for attempt in 1 2 3; do
            free_port >"$dir/port"
            if boot "$dir"; then break; fi
            if [ "$attempt" -eq 3 ] || main "$dir" >/dev/null; then give_up "$dir"; fi
        done
    fi
    url "$dir"
}

url() {
    local scheme=postgres
    [ "$(cat "$1/kind")" != mariadb ] || scheme=mysql
    echo "$scheme://robots:robots@127.0.0.1:$(cat "$1/port")/robots"
}

tls() {
    choose "$(cat "$1/kind")"
    install --mode=600 --owner="$user" "$2" "$1/certificate.pem"
    install --mode=600 --owner="$user" "$3" "$1/key.pem"
    reconfigure "$1" "ssl = on"
}

# Starts the server in DIR again, with one more setting.
reconfigure() {
    choose "$(cat "$1/kind")"
    stop "$1"
    "reconfigure_$(cat "$1/kind")" "$1" "$2"
    boot "$1" || give_up "$1"
}

stop() {
    local dir main signal end dirs
    mapfile -t dirs < <(find "$1" -maxdepth 3 -name kind -printf '%h\n' 2>/dev/null)
    # Signal all servers, then wait for them.
    for dir in "${dirs[@]}"; do
        choose "$(cat "$dir/kind")"
        signal CONT "$dir"
        main=$(main "$dir") || continue
        case $(cat "$dir/kind") in
        # After SIGTERM, PostgreSQL waits until the last client disconnects, and Patroni for etcd.
        postgres) signal=INT ;;
        patroni) signal=KILL ;;
        *) signal=TERM ;;
        esac
        kill "-$signal" "$main" || true
    done
    end=$((SECONDS + timeout / 2))
    for dir in "${dirs[@]}"; do
        choose "$(cat "$dir/kind")"
        while main "$dir" >/dev/null && [ $SECONDS -lt $end ]; do sleep 0.05; done
        kill_all "$dir"
    done
}

usage() {
    sed -n '2,/^[^#]/ s/^# \{0,1\}//p' "$self" >&2
    exit 2
}

run() {
    local command=${1-} dir main
    # Absolute paths, since the servers run in another folder.
    case "$command $#" in
    "start 3")
        [[ $2 =~ ^(postgres|mariadb)$ ]] || usage
        set -- "$2" "$(realpath -m "$3")"
        ;;
    "standby 3" | "standby 4") set -- "$(realpath -m "$2")" "$(realpath -m "$3")" "${@:4}" ;;
    "galera 3" | "join 3") set -- "$(realpath -m "$2")" "$3" ;;
    "pgbouncer 4")
        [[ $4 =~ ^(session|transaction|statement)$ ]] || usage
        set -- "$(realpath -m "$2")" "$(realpath -m "$3")" "$4"
        ;;
    "stop 2" | "promote 2" | "pid 2" | "patroni 2" | "role 2") set -- "$(realpath -m "$2")" ;;
    "without-tls 2") set -- "$(realpath -m "$2")" ;;
    "tls 4") set -- "$(realpath -m "$2")" "$(realpath "$3")" "$(realpath "$4")" ;;
    "signal 3")
        [[ $2 =~ ^(KILL|STOP|CONT|TERM|QUIT)$ ]] || usage
        set -- "$2" "$(realpath -m "$3")"
        ;;
    "sql 3") set -- "$(realpath -m "$2")" "$3" ;;
    "watch 5") shift ;;
    *) usage ;;
    esac
    cd /
    case $command in
    join)
        [ -e "$1/$2/kind" ] || fail "there is no node in $1/$2."
        start "$(cat "$1/$2/kind")" "$1/$2"
        ;;
    without-tls) reconfigure "$1" "ssl = off" ;;
    pid | signal)
        dir=${*: -1}
        [ -e "$dir/kind" ] || fail "there is no server in $dir."
        choose "$(cat "$dir/kind")"
        main=$(main "$dir") || fail "no server runs in $dir."
        case "$command $1" in
        pid*) echo "$main" ;;
        "signal KILL") kill_all "$dir" ;;
        "signal QUIT")
            signal QUIT "$dir"
            while main "$dir" >/dev/null; do sleep 0.05; done
            ;;
        *) signal "$1" "$dir" ;;
        esac
        ;;
    *) "$command" "$@" ;;
    esac
}

# On one line, since bash reads a script while it runs it, and the file may change meanwhile.
run "$@"; exit

#!/usr/bin/env bash
# Private database servers for tests, each in a folder of its own and on a free loopback port.
#
#   servers.sh start postgres|mariadb DIR   starts a server, a new one if there is none in DIR;
#                                           prints its URL, which never changes
#   servers.sh standby PRIMARY DIR          adds a synchronous standby to PostgreSQL; its URL
#   servers.sh promote DIR                  makes a standby the primary
#   servers.sh galera DIR COUNT             a Galera cluster, in DIR/1 and so on; all URLs
#   servers.sh galera-join DIR N            starts a node again while others run; its URL
#   servers.sh pid DIR                      prints the id of the server's main process
#   servers.sh signal NAME DIR              sends KILL, STOP, CONT or TERM to all its processes
#   servers.sh stop DIR                     stops what runs in DIR, or in folders of it
#
# User, password and database are `robots`. The user is no superuser, but may create schemas
# (PostgreSQL), and databases with names that start with `robots` (MariaDB). Session settings have
# unusual defaults, and errors are in German, so that tests notice if a program relies on the
# usual defaults. Settings that only an administrator can change are right for durable commits.
#
# A server ends when its folder is deleted, or when the process ends whose id was in SERVERS_OWNER
# when it was created. Requires Debian's packages postgresql and mariadb-server.
set -euo pipefail
umask 022
self=$(realpath "${BASH_SOURCE[0]}")
# The servers are in /usr/sbin, which may be missing in PATH.
export PATH="$PATH:/usr/sbin:/sbin" LC_ALL=C.UTF-8
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
    command -v "$1" >/dev/null || fail "$1 is missing: install Debian's package $2."
}

# Sets the variables that depend on the kind of server: the folder of its programs (bin), the user
# that it runs as (user), and the prefix that runs a command as that user (as). The servers refuse
# to run as root.
choose() {
    local package
    case $1 in
    postgres)
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
    local main pids
    # Stop the main process first, so that it starts no others.
    if [[ $1 == KILL || $1 == STOP ]] && main=$(main "$2"); then kill -STOP "$main" || true; fi
    mapfile -t pids < <(processes "$2")
    [ ${#pids[@]} -eq 0 ] || kill "-$1" "${pids[@]}" 2>/dev/null || true
}

# Kills all processes of the server in DIR, and waits until its files and its port are free.
kill_all() {
    local end=$((SECONDS + timeout))
    while [ -n "$(processes "$1")" ]; do
        [ $SECONDS -lt $end ] || fail "the processes of the server in $1 cannot be killed."
        signal KILL "$1"
        sleep 0.05
    done
    [ -e "$1/data/postmaster.pid" ] || return 0
    # PostgreSQL does not start next to a zombie, and a killed server leaves shared memory.
    awk 'NR == 7 { print $1 }' "$1/data/postmaster.pid" | xargs -r "${as[@]}" ipcrm -M 2>/dev/null || true
    rm -f "$1/data/postmaster.pid"
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

# Starts the server in DIR with its port and further arguments, and waits until it serves.
boot() {
    local dir=$1 port position
    shift
    port=$(cat "$dir/port")
    # If the main process was killed, others may still run.
    kill_all "$dir"
    if [ "$(cat "$dir/kind")" = postgres ]; then
        # For German messages a locale of this name is enough, with any content.
        mkdir -p "$dir/locale/de_DE.UTF-8"
        if cp -R /usr/lib/locale/C.utf8/LC_MESSAGES "$dir/locale/de_DE.UTF-8/" 2>/dev/null; then
            set -- "$@" -c lc_messages=de_DE.UTF-8
        fi
        LOCPATH=$dir/locale launch "$dir" "$bin/postgres" -D "$dir/data" -p "$port" "$@"
        await "$dir" postgres_serves "$dir"
    else
        # A killed node recovers its position from its tables, so that it receives only the missing
        # changes from the others.
        if [ -e "$dir/data/grastate.dat" ]; then
            position=$("${as[@]}" mariadbd "--defaults-file=$dir/my.cnf" --wsrep-recover 2>&1 |
                sed -n 's/.*Recovered position: *//p')
            set -- "$@" ${position:+"--wsrep-start-position=$position"}
        fi
        launch "$dir" mariadbd "--defaults-file=$dir/my.cnf" "--port=$port" "$@"
        await "$dir" mariadb_serves "$dir"
    fi
}

# Fails because the server in DIR did not start.
give_up() {
    kill_all "$1"
    fail_with_log "$1" "the server in $1 did not start."
}

# Whether the server in DIR is ready, by its own file: another server may have its port.
postgres_serves() {
    local lines=()
    mapfile -t lines 2>/dev/null <"$1/data/postmaster.pid" || true
    [ "${lines[0]-}" = "$(cat "$1/pid")" ] && [[ ${lines[7]-} == ready* ]]
}

# Whether the server in DIR is ready, not another on its port. A node must be synced, too.
mariadb_serves() {
    [ "$(query "$1" "SELECT @@datadir")" = "$1/data/" ] || return 1
    [ ! -e "$1/node" ] || [[ $(query "$1" "SHOW STATUS LIKE 'wsrep_local_state_comment'") == *Synced ]]
}

# Whether the node in DIR is ready in a cluster of a size.
is_one_of() {
    mariadb_serves "$1" && [[ $(query "$1" "SHOW STATUS LIKE 'wsrep_cluster_size'") == *$'\t'"$2" ]]
}

# Runs a query in MariaDB as the user of the tests.
query() {
    MYSQL_PWD=robots timeout 5 mariadb --no-defaults --skip-ssl --host=127.0.0.1 --user=robots \
        --port="$(cat "$1/port")" --batch --skip-column-names --execute="$2" 2>/dev/null
}

# The connection string of PostgreSQL's superuser.
superuser() {
    echo "host=127.0.0.1 port=$(cat "$1/port") user=postgres password=$(cat "$1/password")"
}

ask() {
    "$bin/psql" --no-psqlrc --quiet --tuples-only --no-align --set=ON_ERROR_STOP=1 \
        --dbname="$(superuser "$1") dbname=postgres" --command="$2"
}

# Nothing is synced while a server is created, which saves seconds.
new_postgres() {
    local dir=$1 password icu=()
    # A collation that does not order by bytes.
    [[ $("$bin/initdb" --help) != *icu-locale* ]] || icu=(--locale-provider=icu --icu-locale=en-US)
    "${as[@]}" "$bin/initdb" --pgdata="$dir/new" --username=postgres --auth=reject --no-sync \
        --encoding=UTF8 --locale=C.UTF-8 "${icu[@]}" >>"$dir/log" 2>&1 || fail_with_log "$dir" "initdb failed."
    password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' ')
    (umask 077 && echo "$password" >"$dir/password")
    "${as[@]}" "$bin/postgres" --single -F -D "$dir/new" -c exit_on_error=on \
        -c password_encryption=scram-sha-256 postgres >>"$dir/log" 2>&1 <<SQL ||
ALTER ROLE postgres PASSWORD '$password';
CREATE ROLE robots LOGIN PASSWORD 'robots';
CREATE DATABASE robots OWNER robots;
SQL
        fail_with_log "$dir" "the role and the database could not be made."
    echo "host all,replication all 127.0.0.1/32 scram-sha-256" >"$dir/new/pg_hba.conf"
    cat >>"$dir/new/postgresql.conf" <<'CONF'
listen_addresses = '127.0.0.1'
# The path of a socket is too long in some folders.
unix_socket_directories = ''
max_connections = 400
shared_buffers = 64MB
wal_keep_size = 256MB
# In the folder, not in /dev/shm, where a killed server leaves it.
dynamic_shared_memory_type = mmap
# Unusual defaults.
synchronous_commit = off
default_transaction_isolation = 'serializable'
default_transaction_read_only = on
lock_timeout = 1ms
timezone = 'Asia/Kathmandu'
datestyle = 'German, DMY'
intervalstyle = 'sql_standard'
bytea_output = 'escape'
client_encoding = 'LATIN1'
CONF
}

new_mariadb() {
    local dir=$1
    need mariadb-install-db mariadb-server
    cat >"$dir/new.sql" <<'SQL'
FLUSH PRIVILEGES;
CREATE USER robots@'%' IDENTIFIED BY 'robots';
GRANT ALL ON `robots%`.* TO robots@'%';
CREATE DATABASE robots CHARACTER SET latin1 COLLATE latin1_swedish_ci;
SQL
    "${as[@]}" mariadb-install-db --no-defaults --datadir="$dir/new" --tmpdir="$dir/tmp" --skip-name-resolve \
        --auth-root-authentication-method=socket --auth-root-socket-user="$user" --skip-test-db \
        --extra-file="$dir/new.sql" --innodb-log-file-size=32M --innodb-flush-method=nosync --debug-no-sync \
        >>"$dir/log" 2>&1 || fail_with_log "$dir" "mariadb-install-db failed."
}

# Writes the settings of the MariaDB server in DIR, which Galera's scripts read, too.
configure_mariadb() {
    # These two cannot be set in the file.
    echo "SET GLOBAL sql_select_limit = 1, GLOBAL check_constraint_checks = 0;" >"$1/init.sql"
    cat >"$1/my.cnf" <<CONF
[mysqld]
datadir = $1/data
tmpdir = $1/tmp
init_file = $1/init.sql
# Relative to the data folder: the whole path is too long in some folders.
socket = socket
bind_address = 127.0.0.1
skip_name_resolve
max_connections = 400
innodb_buffer_pool_size = 64M
innodb_log_file_size = 32M
innodb_flush_log_at_trx_commit = 1
# Unusual defaults.
sql_mode = ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH
character_set_server = latin1
collation_server = latin1_swedish_ci
autocommit = 0
completion_type = CHAIN
transaction_isolation = READ-UNCOMMITTED
transaction_read_only = ON
innodb_lock_wait_timeout = 1
lock_wait_timeout = 1
max_sort_length = 64
default_time_zone = +05:45
lc_messages = de_DE
CONF
}

# More unusual defaults, with which Galera itself does not work.
configure_single_server() {
    echo "SET GLOBAL max_join_size = 1;" >>"$1/init.sql"
    cat >>"$1/my.cnf" <<CONF
default_storage_engine = MyISAM
innodb_default_row_format = compact
CONF
}

start() {
    local kind=$1 dir=$2 attempt
    choose "$kind"
    if [ -d "$dir/data" ]; then
        [ "$(cat "$dir/kind")" = "$kind" ] || fail "the server in $dir is not of the kind $kind."
        main "$dir" >/dev/null || boot "$dir" || give_up "$dir"
    else
        prepare "$kind" "$dir"
        "new_$kind" "$dir"
        [ "$kind" = postgres ] || configure_mariadb "$dir"
        [ "$kind" = postgres ] || configure_single_server "$dir"
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
    local kind
    kind=$(cat "$1/kind")
    echo "${kind/mariadb/mysql}://robots:robots@127.0.0.1:$(cat "$1/port")/robots"
}

standby() {
    local primary=$1 dir=$2 name
    choose postgres
    main "$primary" >/dev/null || fail "no server runs in $primary."
    [ ! -e "$dir/kind" ] || fail "there is a server in $dir already."
    prepare postgres "$dir"
    free_port >"$dir/port"
    name=standby_$(cat "$dir/port")
    cp -p "$primary/password" "$dir/password"
    "${as[@]}" "$bin/pg_basebackup" --pgdata="$dir/new" --dbname="$(superuser "$primary") application_name=$name" \
        --write-recovery-conf --checkpoint=fast --no-sync >>"$dir/log" 2>&1 ||
        fail_with_log "$dir" "pg_basebackup failed."
    # Once promoted, it must not wait for a standby. The last of such lines counts.
    echo "synchronous_standby_names = ''" >>"$dir/new/postgresql.auto.conf"
    mv "$dir/new" "$dir/data"
    boot "$dir" || give_up "$dir"
    ask "$primary" "ALTER SYSTEM SET synchronous_standby_names = '$name'"
    ask "$primary" "SELECT pg_reload_conf()" >/dev/null
    await "$dir" is_waited_for "$primary" "$name" || fail_with_log "$dir" "the standby did not become synchronous."
    url "$dir"
}

# Whether commits in the primary wait for the standby of a name.
is_waited_for() {
    [ "$(ask "$1" "SELECT sync_state FROM pg_stat_replication WHERE application_name = '$2'")" = sync ]
}

promote() {
    choose postgres
    "${as[@]}" "$bin/pg_ctl" promote --wait --timeout=$timeout --pgdata="$1/data" >>"$1/log" 2>&1 ||
        fail_with_log "$1" "the server in $1 could not be promoted."
}

galera() {
    local dir=$1 count=$2 node provider addresses='' ports=() boots=()
    choose mariadb
    # These are needed to send the data to a new node.
    need wsrep_sst_rsync mariadb-server
    need rsync rsync
    need ss iproute2
    need ps procps
    provider=$(find /usr/lib /usr/lib64 -name libgalera_smm.so -print -quit 2>/dev/null || true)
    [ -n "$provider" ] || fail "libgalera_smm.so is missing: install Debian's package galera-4."
    make_folder "$dir"
    # A node has ports for clients, for the group, and for incremental and full state transfers.
    while [ ${#ports[@]} -lt $((4 * count)) ]; do ports+=("$(free_port "${ports[@]}")"); done
    for ((node = 0; node < count; node++)); do addresses+=,127.0.0.1:${ports[4 * node + 1]}; done
    for ((node = 1; node <= count; node++)); do
        prepare mariadb "$dir/$node"
        configure_mariadb "$dir/$node"
        set -- "${ports[@]:4 * (node - 1):4}"
        echo "$1" >"$dir/$node/port"
        touch "$dir/$node/node"
        # A node is excluded after three seconds without an answer, and joins quickly.
        cat >>"$dir/$node/my.cnf" <<CONF
binlog_format = ROW
innodb_autoinc_lock_mode = 2
wsrep_on = ON
wsrep_provider = $provider
wsrep_cluster_name = robots
wsrep_cluster_address = gcomm://${addresses#,}
wsrep_node_name = node$node
wsrep_node_address = 127.0.0.1
wsrep_node_incoming_address = 127.0.0.1:$1
wsrep_sst_method = rsync
wsrep_sst_receive_address = 127.0.0.1:$4
wsrep_provider_options = base_port=$2;gmcast.listen_addr=tcp://127.0.0.1:$2;ist.recv_addr=127.0.0.1:$3;gcache.size=64M;gmcast.peer_timeout=PT3S;gmcast.time_wait=PT1S;evs.keepalive_period=PT0.5S;evs.inactive_check_period=PT0.5S;evs.suspect_timeout=PT3S;evs.inactive_timeout=PT6S;evs.install_timeout=PT6S;evs.join_retrans_period=PT0.2S
CONF
        # The other nodes receive the data of the first one.
        [ "$node" -gt 1 ] || new_mariadb "$dir/1"
        mv "$dir/$node/new" "$dir/$node/data"
    done
    boot "$dir/1" --wsrep-new-cluster || give_up "$dir/1"
    for ((node = 2; node <= count; node++)); do
        boot "$dir/$node" &
        boots+=($!)
    done
    [ "$count" -lt 2 ] || wait "${boots[@]}" || true
    for ((node = 1; node <= count; node++)); do
        await "$dir/$node" is_one_of "$dir/$node" "$count" || give_up "$dir/$node"
        url "$dir/$node"
    done
}

stop() {
    local dir main signal end dirs
    mapfile -t dirs < <(find "$1" -maxdepth 3 -name kind -printf '%h\n' 2>/dev/null)
    # Signal all servers, then wait for them.
    for dir in "${dirs[@]}"; do
        choose "$(cat "$dir/kind")"
        signal CONT "$dir"
        main=$(main "$dir") || continue
        # After SIGTERM, PostgreSQL waits until the last client disconnects.
        if [ "$(cat "$dir/kind")" = postgres ]; then signal=INT; else signal=TERM; fi
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
    "start 3") set -- "$2" "$(realpath -m "$3")" ;;
    "standby 3") set -- "$(realpath -m "$2")" "$(realpath -m "$3")" ;;
    "galera 3" | "galera-join 3") set -- "$(realpath -m "$2")" "$3" ;;
    "stop 2" | "promote 2" | "pid 2") set -- "$(realpath -m "$2")" ;;
    "signal 3")
        [[ $2 =~ ^(KILL|STOP|CONT|TERM)$ ]] || usage
        set -- "$2" "$(realpath -m "$3")"
        ;;
    "watch 5") shift ;;
    *) usage ;;
    esac
    cd /
    case $command in
    galera-join)
        [ -e "$1/$2/node" ] || fail "there is no node in $1/$2."
        start mariadb "$1/$2"
        ;;
    pid | signal)
        dir=${*: -1}
        [ -e "$dir/kind" ] || fail "there is no server in $dir."
        choose "$(cat "$dir/kind")"
        main=$(main "$dir") || fail "no server runs in $dir."
        case "$command $1" in
        pid*) echo "$main" ;;
        "signal KILL") kill_all "$dir" ;;
        *) signal "$1" "$dir" ;;
        esac
        ;;
    *) "$command" "$@" ;;
    esac
}

# On one line, since bash reads a script while it runs it, and the file may change meanwhile.
run "$@"; exit

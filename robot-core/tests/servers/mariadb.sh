# MariaDB servers and Galera clusters. Part of servers.sh.

boot_mariadb() {
    local dir=$1 position
    shift
    # A killed node recovers its position from its tables, so that it receives only the missing
    # changes from the others.
    if [ -e "$dir/data/grastate.dat" ]; then
        position=$("${as[@]}" mariadbd "--defaults-file=$dir/my.cnf" --wsrep-recover 2>&1 |
            sed -n 's/.*Recovered position: *//p')
        set -- "$@" ${position:+"--wsrep-start-position=$position"}
    fi
    launch "$dir" mariadbd "--defaults-file=$dir/my.cnf" "--port=$(cat "$dir/port")" "$@"
    await "$dir" mariadb_serves "$dir"
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

create_mariadb() {
    need mariadb-install-db mariadb-server
    create_mariadb_data "$1"
    configure_mariadb "$1"
    configure_single_server "$1"
    [ "${SERVERS_DEFAULTS-}" != usual ] || use_usual_defaults "$1"
}

use_usual_defaults() {
    : >"$1/init.sql"
    sed -i '/^# Unusual defaults/,/^$/ { /^ssl/!d }' "$1/my.cnf"
}

create_mariadb_data() {
    local dir=$1
    cat >"$dir/new.sql" <<'SQL'
FLUSH PRIVILEGES;
CREATE USER robots@'%' IDENTIFIED BY 'robots';
GRANT ALL ON `robots%`.* TO robots@'%';
CREATE USER reader@'%' IDENTIFIED BY 'reader';
GRANT SELECT ON `robots%`.* TO reader@'%';
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
innodb_lock_wait_timeout = 1
lock_wait_timeout = 1
max_sort_length = 64
default_time_zone = +05:45
lc_messages = de_DE
CONF
}

# More settings, with which Galera itself does not work: TLS, which is off at first, and unusual defaults.
configure_single_server() {
    echo "SET GLOBAL max_join_size = 1;" >>"$1/init.sql"
    cat >>"$1/my.cnf" <<CONF
ssl_cert = $1/certificate.pem
ssl_key = $1/key.pem
ssl = off
default_storage_engine = MyISAM
transaction_read_only = ON
innodb_default_row_format = compact
CONF
}

# Adds a setting to the server in DIR. The last one of a name counts.
reconfigure_mariadb() {
    echo "$2" >>"$1/my.cnf"
}

galera() {
    local dir=$1 count=$2 node provider addresses='' ports=() boots=()
    choose mariadb
    need mariadb-install-db mariadb-server
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
# For the triggers of a user without SUPER.
log_bin_trust_function_creators = ON
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
        [ "$node" -gt 1 ] || create_mariadb_data "$dir/1"
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

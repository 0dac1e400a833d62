# Patroni clusters: two PostgreSQL nodes, of which an etcd server knows the primary. Part of
# servers.sh.

# Creates the cluster in DIR: etcd in DIR/etcd, the nodes in DIR/1 and DIR/2.
patroni() {
    local dir=$1 node ports=()
    choose etcd
    need patroni patroni
    need etcd etcd-server
    need curl curl
    make_folder "$dir"
    # Each server has a port for clients, and one for its peers or its API.
    while [ ${#ports[@]} -lt 6 ]; do ports+=("$(free_port "${ports[@]}")"); done
    for node in etcd 1 2; do
        prepare "${node/[12]/patroni}" "$dir/$node"
        echo "${ports[0]}" >"$dir/$node/port"
        echo "${ports[1]}" >"$dir/$node/api"
        ports=("${ports[@]:2}")
    done
    random_password "$dir/1"
    cp -p "$dir/1/password" "$dir/2/password"
    for node in 1 2; do configure_patroni "$dir/$node" "$node" "$(cat "$dir/etcd/port")"; done
    for node in etcd 1 2; do mv "$dir/$node/new" "$dir/$node/data"; done
    for node in etcd 1 2; do boot "$dir/$node" || give_up "$dir/$node"; done
    await "$dir/2" has_role "$dir/2" synchronous || give_up "$dir/2"
    echo "postgres://robots:robots@127.0.0.1:$(cat "$dir/1/port"),127.0.0.1:$(cat "$dir/2/port")/robots"
}

boot_etcd() {
    local client peer
    client=http://127.0.0.1:$(cat "$1/port")
    peer=http://127.0.0.1:$(cat "$1/api")
    launch "$1" etcd --enable-v2 --name=robots --data-dir="$1/data/etcd" \
        --listen-client-urls="$client" --advertise-client-urls="$client" \
        --listen-peer-urls="$peer" --initial-advertise-peer-urls="$peer" --initial-cluster="robots=$peer"
    await "$1" etcd_serves "$client"
}

# Whether the server has a leader, and has decided about its version, which Patroni asks for.
etcd_serves() {
    get "$1/health" && [[ $(curl --silent --max-time 2 "$1/version") != *not_decided* ]]
}

boot_patroni() {
    LOCPATH=$1/locale launch "$1" patroni "$1/patroni.yml"
    await "$1" get "http://127.0.0.1:$(cat "$1/api")/health"
}

# Writes the configuration of the node in DIR with a number, for the etcd server on a port. The
# primary's lease ends after six seconds (Patroni 3.2 and later: 20).
configure_patroni() {
    local dir=$1 port api password
    port=$(cat "$dir/port")
    api=127.0.0.1:$(cat "$dir/api")
    password=$(cat "$dir/password")
    (umask 077 && cat >"$dir/patroni.yml") <<CONF
scope: robots
name: node$2
restapi:
  listen: $api
  connect_address: $api
# With etcd3, Patroni 3.0.2 overwrites the lock of the new primary when an old one continues after a
# suspension, and acknowledged writes are lost.
etcd:
  host: 127.0.0.1:$3
bootstrap:
  dcs:
    ttl: 6
    loop_wait: 1
    retry_timeout: 2
    synchronous_mode: true
    postgresql:
      use_pg_rewind: true
      parameters:
        shared_buffers: 64MB
        wal_keep_size: 256MB
        # In the folder, not in /dev/shm, where a killed server leaves it.
        dynamic_shared_memory_type: mmap
        lc_messages: $(messages_locale "$dir")
        # No rejected names.
        log_min_messages: log
  initdb:
    - encoding: UTF8
    - locale: C.UTF-8
    - no-sync
  post_init: $dir/create_database
postgresql:
  listen: 127.0.0.1:$port
  connect_address: 127.0.0.1:$port
  data_dir: $dir/data/postgres
  bin_dir: $bin
  pgpass: $dir/data/pgpass
  pg_hba:
    - host all,replication all 127.0.0.1/32 scram-sha-256
  basebackup:
    checkpoint: fast
  authentication:
    superuser:
      username: postgres
      password: $password
    replication:
      username: replicator
      password: $password
    rewind:
      username: rewinder
      password: $password
  parameters:
    # The path of a socket is too long in some folders.
    unix_socket_directories: ''
CONF
    chown "$user" "$dir/patroni.yml"
    cat >"$dir/create_database" <<SH
#!/bin/sh
exec "$bin/psql" --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --dbname="\$1" <<SQL
CREATE ROLE robots LOGIN PASSWORD 'robots';
CREATE DATABASE robots OWNER robots;
$(unusual_defaults | sed 's/\(.*\) = \(.*\)/ALTER DATABASE robots SET \1 = \2;/')
SQL
SH
    chmod +x "$dir/create_database"
}

# Whether a GET of a URL returns 200.
get() {
    curl --silent --fail --max-time 2 --output /dev/null "$1"
}

# Whether the node in DIR has a role, by Patroni's API: primary, synchronous or replica. A standby that
# is far behind has none.
has_role() {
    get "http://127.0.0.1:$(cat "$1/api")/$2?lag=1MB"
}

role() {
    local role
    [ -e "$1/api" ] || fail "there is no node in $1."
    for role in primary synchronous replica; do
        if has_role "$1" $role; then
            echo $role
            return
        fi
    done
    echo none
}

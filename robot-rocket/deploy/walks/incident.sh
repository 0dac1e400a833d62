#!/usr/bin/env bash
# Incidents: the database is suspended, then stopped, and the disk is full, while clients ask. Health checks,
# metrics, alerts and the log show each, and the server recovers without a restart:
#
#   robot-rocket/deploy/walks/incident.sh PROGRAMS
# shellcheck source=robot-rocket/deploy/walks/walk.sh
source "$(dirname "$0")/walk.sh"
follow 'Incidents'

# The sum of the metrics whose name and labels match a regular expression.
value() {
    run 'curl -s *' 2>/dev/null | awk -v pattern="^$1[ {]" '$0 ~ pattern && !/^#/ { sum += $NF } END { print sum + 0 }'
}

# Whether a metric has a value that an operator of awk compares: shows robots_ready '== 0'
shows() { awk "BEGIN { exit !($(value "$1") $2) }"; }

# Fails unless the document names a metric for a symptom.
names() {
    grep "^| $1 |" "$document" | grep --fixed-strings "$2" >/dev/null || fail "the document does not name $2 for '$1'"
}

# Fails unless the rule of an alert has an expression.
alerts_if() {
    sed -n "/alert: $1$/,/labels:/p" "$deploy/prometheus-alerts.yml" | tr --squeeze-repeats ' \n' ' ' |
        grep --fixed-strings "$2" >/dev/null || fail "the alert $1 has no expression '$2'"
}

# The answer of /readyz has this status and text.
answers() { run 'curl -i *' 2>/dev/null | tr '\n' ' ' | grep "^HTTP/1.1 $1 .*$2" >/dev/null; }

logged() { run 'journalctl *' 2>/dev/null | grep "$1"; }

# Requests of clients.
ask() {
    local number clients=()
    for ((number = 1; number <= 5; number++)); do
        curl --silent --output /dev/null --max-time 10 "$site/api/robots/$number" &
        clients+=("$!")
        add "robot-$RANDOM$RANDOM" >/dev/null &
        clients+=("$!")
    done
    for number in "${clients[@]}"; do wait "$number" || true; done
}

# Begins an incident: remembers the counters, and empties the log.
failures='robots_http_requests_total{.*status="5..".*}'
begin() {
    : >"$log"
    failed=$(value "$failures")
    all=$(value robots_http_requests_total)
    unavailable=$(value 'robots_store_errors_total{error="unavailable"}')
    full=$(value 'robots_store_errors_total{error="disk_full"}')
    connects=$(value 'robots_store_connects_total{result="failed"}')
}

# The alerts for an unreachable database.
alerts_of_outage() {
    within_a_minute shows robots_ready '== 0'
    alerts_if RobotsNotReady 'robots_ready == 0'
    shows "$failures" "- $failed > 0.01 * ($(value robots_http_requests_total) - $all)" || fail "requests do not fail"
    alerts_if RobotsFail 'robots_http_requests_total{status=~"5.."}[5m]))'
    alerts_if RobotsFail '> 0.01'
    shows 'robots_store_errors_total{error="unavailable"}' "> $unavailable" || fail "no error was counted"
    names 503 'robots_store_errors_total{error="unavailable"}'
    names 'the database is unreachable' robots_ready
}

recovers() {
    within_a_minute answers 200 ready
    within_a_minute shows robots_ready '== 1'
    add "after $1" || fail "no robot can be added after the incident"
    logged "$2"
    is_running || fail "the server has ended"
    echo "$1: found, and the server has recovered"
}

new_store postgres
install_service "$programs"
setting "DATABASE_URL=$url"
setting ROCKET_METRICS_ADDRESS=127.0.0.1:9100
systemctl start robot-rocket
within_a_minute robot-rocket --ready
run 'curl -i *' | grep '^HTTP/1.1 200'
add first
begin
"$servers" signal STOP "$database"
ask
within_a_minute answers 503 'has not answered within 0.8 seconds'
alerts_of_outage
logged 'the store is unavailable: the database did not answer in time'
"$servers" signal CONT "$database"
recovers 'a suspended database' 'the store is unavailable: '

begin
"$servers" stop "$database"
ask
within_a_minute answers 503 'the database '
alerts_of_outage
within_a_minute shows 'robots_store_connects_total{result="failed"}' "> $connects"
within_a_minute shows robots_store_connections '== 0'
names 'the database is unreachable' 'robots_store_connects_total{result="failed"}'
names 'the database is unreachable' robots_store_connections
logged 'cannot reach the database '
"$servers" start postgres "$database" >/dev/null
recovers 'a stopped database' 'is available again'
systemctl stop robot-rocket

new_store sqlite
install_service "$programs"
mkdir /var/lib/robots
mount -t tmpfs -o size=4m tmpfs /var/lib/robots
setting ROCKET_METRICS_ADDRESS=127.0.0.1:9100
: >"$log"
systemctl start robot-rocket
within_a_minute robot-rocket --ready
add first
begin
dd if=/dev/zero of=/var/lib/robots/other-data bs=64k 2>/dev/null || true
# Until the log in the file has no room either.
is_full() {
    ask
    shows 'robots_store_errors_total{error="disk_full"}' "> $full"
}
within_a_minute is_full
names 'full disk' 'robots_store_errors_total{error="disk_full"}'
alerts_if RobotsDisk 'increase(robots_store_errors_total{error=~"disk_full|'
logged 'the disk of the store is full'
answers 200 ready || fail "robots cannot be read"
serves || fail "robots cannot be listed"
rm /var/lib/robots/other-data
recovers 'a full disk' 'the disk of the store is full'
finish

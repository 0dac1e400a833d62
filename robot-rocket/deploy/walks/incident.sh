#!/usr/bin/env bash
# Incidents: the database is suspended, then stopped, and the disk is full, while clients ask; the certificate has
# expired, a token is revoked, and a reload is refused. Health checks, metrics, alerts and the log show each, and the
# server recovers without a restart:
#
#   robot-rocket/deploy/walks/incident.sh PROGRAMS
# shellcheck source=robot-rocket/deploy/walks/walk.sh
source "$(dirname "$0")/walk.sh"
follow 'Incidents'
consult 'Set and check'
consult 'Renew a certificate'

# The sum of the metrics whose name and labels match a regular expression.
value() {
    run 'curl -s *' 2>/dev/null | awk -v pattern="^$1[ {]" '$0 ~ pattern && !/^#/ { sum += $NF } END { print sum + 0 }'
}

# Whether a metric has a value that an operator of awk compares: shows robots_ready '== 0'
shows() { awk "BEGIN { exit !($(value "$1") $2) }"; }

# Fails unless the section of a symptom names metrics and alerts.
names() {
    local symptom=$1 section name
    section=$(awk -v heading="### $symptom" '/^#/ { inside = $0 == heading } inside' "${documents[@]}" | tr '\n' ' ')
    shift
    for name in "$@"; do
        [[ $section = *"$name"* ]] || fail "the documents do not name $name for '$symptom'"
    done
}

# Fails unless the rule of an alert has an expression.
alerts_if() {
    sed -n "/alert: $1$/,/labels:/p" "$deploy/prometheus-alerts.yml" | tr --squeeze-repeats ' \n' ' ' |
        grep --fixed-strings "$2" >/dev/null || fail "the alert $1 has no expression '$2'"
}

is_ready() { run 'systemd-run* --ready'; }

# Whether the server is not ready for a reason.
is_unready() { { is_ready 2>&1 || true; } | grep "is not ready: .*$1" >/dev/null; }

logged() { run 'journalctl *' 2>/dev/null | grep "$1"; }

# The same for a line that is written in the background.
will_log() { within_a_minute logged "$1" && logged "$1"; }

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
    alerts_if RobotsFail 'robots_http_requests_total{route!~"/(livez|readyz)",status=~"5.."}[5m]))'
    alerts_if RobotsFail '> 0.01'
    shows 'robots_store_errors_total{error="unavailable"}' "> $unavailable" || fail "no error was counted"
    names 'The database is unreachable' robots_ready RobotsNotReady RobotsFail \
        'robots_store_errors_total{error="unavailable"}'
}

recovers() {
    within_a_minute is_ready
    within_a_minute shows robots_ready '== 1'
    add "after $1" || fail "no robot can be added after the incident"
    logged "$2"
    is_running || fail "the server has ended"
    echo "$1: found, and the server has recovered"
}

# Starts the service with its settings, and begins an incident.
start() {
    setting ROCKET_METRICS_ADDRESS=127.0.0.1:9100
    systemctl start robot-rocket
    within_a_minute is_ready
    begin
}

new_store postgres
substitute https://robots.example "$site"
install_service "$programs"
setting "DATABASE_URL=$url"
start
add first
"$servers" signal STOP "$database"
ask
within_a_minute is_unready 'has not answered within 0.8 seconds'
alerts_of_outage
logged 'the store is unavailable: the database did not answer in time'
"$servers" signal CONT "$database"
recovers 'a suspended database' 'the store is unavailable: '

begin
"$servers" stop "$database"
ask
within_a_minute is_unready 'the database '
alerts_of_outage
within_a_minute shows 'robots_store_connects_total{result="failed"}' "> $connects"
within_a_minute shows robots_store_connections '== 0'
names 'The database is unreachable' 'robots_store_connects_total{result="failed"}' robots_store_connections
logged 'cannot reach the database '
"$servers" start postgres "$database" >/dev/null
recovers 'a stopped database' 'is available again'
systemctl stop robot-rocket

new_store sqlite
substitute https://robots.example "$site"
install_service "$programs"
mkdir /var/lib/robots
mount -t tmpfs -o size=4m tmpfs /var/lib/robots
start
add first
dd if=/dev/zero of=/var/lib/robots/other-data bs=64k 2>/dev/null || true
# Until the log in the file has no room either.
is_full() {
    ask
    shows 'robots_store_errors_total{error="disk_full"}' "> $full"
}
within_a_minute is_full
names 'Full disk' 'robots_store_errors_total{error="disk_full"}' RobotsDisk
alerts_if RobotsDisk 'increase(robots_store_errors_total{error=~"disk_full|'
logged 'the disk of the store is full'
is_ready || fail "robots cannot be read"
serves || fail "robots cannot be listed"
rm /var/lib/robots/other-data
recovers 'a full disk' 'the disk of the store is full'
systemctl stop robot-rocket
umount /var/lib/robots

# Whether a client that checks the certificate is answered.
trusts() {
    curl --silent --output /dev/null --max-time 5 --cacert new-chain.pem \
        --resolve robots.example:8000:127.0.0.1 https://robots.example:8000/livez
}

new_store sqlite
substitute https://robots.example https://127.0.0.1:8000
substitute robots.example:443 127.0.0.1:8000
install_service "$programs"
new_certificate -1
install -d -m 755 /etc/robot-rocket
run 'install*chain.pem'
run 'install*key.pem'
setting 'ROCKET_TLS={certs="/etc/robot-rocket/chain.pem",key="/etc/robot-rocket/key.pem"}'
: >"$log"
systemctl start robot-rocket
export ROCKET_TLS='{certs="/etc/robot-rocket/chain.pem",key="/etc/robot-rocket/key.pem"}'
within_a_minute is_ready
systemctl stop robot-rocket
expired="the certificate file '/etc/robot-rocket/chain.pem' of tls.certs has expired"
will_log "WARN .*$expired"
run 'sudo systemd-run*--check' >output 2>&1 || fail "a certificate that has expired makes the settings invalid"
grep "WARN .*$expired" output >/dev/null || fail "--check does not report that the certificate has expired"
names 'Clients reject the certificate' 'has expired' 'robot-rocket --check'
start
if trusts; then fail "the certificate is valid"; fi
shows robots_tls_certificate_expiry_time_seconds "> 0" || fail "the metrics do not show the end of the certificate"
shows robots_tls_certificate_expiry_time_seconds "< $(date +%s)" || fail "the certificate has not expired"
within_a_minute shows robots_tls_handshakes_failed_total '> 0'
names 'Clients reject the certificate' robots_tls_certificate_expiry_time_seconds RobotsCertificate \
    robots_tls_handshakes_failed_total
alerts_if RobotsCertificate 'robots_tls_certificate_expiry_time_seconds - time() < 14 * 24 * 3600'
new_certificate 90
run 'install*chain.pem'
run 'install*key.pem'
run 'systemctl reload*'
within_a_minute trusts
shows robots_tls_certificate_expiry_time_seconds "> $(date +%s) + 15 * 24 * 3600" || fail "the alert does not end"
will_log 'tokens and certificates were reloaded'
is_running || fail "the server has ended"
unset ROCKET_TLS
systemctl stop robot-rocket
echo 'an expired certificate: found, and the server has recovered'

# The status of a request with a token.
status_with() {
    curl --silent --output /dev/null --max-time 5 --write-out '%{http_code}' \
        --header "Authorization: Bearer $1" "$site/api/robots?limit=1"
}

gets() { [ "$(status_with "$1")" = "$2" ]; }

new_store sqlite
substitute https://robots.example "$site"
install_service "$programs"
token=$(new_token ci)
# The start of the SHA-256.
digits=$(grep --only-matching 'sha256:.\{8\}' entry)
install -m 640 -g robot-rocket entry /etc/robot-rocket.tokens
other=$(new_token dashboard)
cat entry >>/etc/robot-rocket.tokens
setting ROCKET_API_TOKENS_FILE=/etc/robot-rocket.tokens
setting RUST_LOG=info
start
gets "$token" 200 || fail "the token is not accepted"
sed -i '/^write:ci:/d' /etc/robot-rocket.tokens
systemctl reload robot-rocket
within_a_minute gets "$token" 401
is_ready || fail "clients without a token affect the health check"
within_a_minute shows 'robots_http_requests_total{.*status="401".*}' '> 0'
within_a_minute shows 'robots_reloads_total{result="done"}' '== 1'
will_log "INFO .*tokens and certificates were reloaded .*tokens_removed=.*:ci:$digits"
will_log "status=401 .*client=127.0.0.1 unknown_token=$digits"
names 'Clients get 401' 'robots_http_requests_total{status="401"}' RobotsUnauthorized unknown_token tokens_removed
alerts_if RobotsUnauthorized 'robots_http_requests_total{status="401"}[5m]'
gets "$other" 200 || fail "the other token is not accepted"
echo 'a revoked token: found, and clients with another one are served'

# SIGHUP without the check of 'systemctl reload'.
: >"$log"
sed -i '/^write:dashboard:/d' /etc/robot-rocket.tokens
kill -HUP "$(service)"
within_a_minute shows 'robots_reloads_total{result="refused"}' '== 1'
will_log "ERROR .*the reload was refused.*the file of api_tokens_file, which would turn authentication off"
gets "$other" 200 || fail "a reload that was refused has changed the tokens"
names 'A reload fails' 'robots_reloads_total{result="refused"}' RobotsReloadRefused 'the reload was refused'
alerts_if RobotsReloadRefused 'increase(robots_reloads_total{result="refused"}[15m]) > 0'
cat entry >>/etc/robot-rocket.tokens
systemctl reload robot-rocket
within_a_minute shows 'robots_reloads_total{result="done"}' '== 2'
is_running || fail "the server has ended"
echo 'a refused reload: found, and repeated'
systemctl stop robot-rocket
finish

#!/usr/bin/env bash
# New tokens and a new certificate, also by the script of certbot, without a restart and while a connection is
# open; and wrong files, which are refused:
#
#   robot-rocket/deploy/walks/rotate.sh PROGRAMS
# shellcheck source=robot-rocket/deploy/walks/walk.sh
source "$(dirname "$0")/walk.sh"
follow 'Replace a token'
follow 'Renew a certificate'
consult 'Put it on the internet'

# The status of a request with a token, on the connection that is open.
status() {
    local line length=0
    printf 'GET /api/robots?limit=1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n' "$1" >&3
    read -r line <&3
    cut -d' ' -f2 <<<"$line"
    while read -r line <&3 && [ "$line" != $'\r' ]; do
        [[ ${line,,} != content-length:* ]] || length=$(tr -dc 0-9 <<<"$line")
    done
    read -r -N "$length" -u 3 line
}

has() {
    [ "$(status "$1")" = "$2" ]
}

expect() {
    within_a_minute has "$1" "$2"
}

# Fails unless a reload fails and the document's command shows a text in the log; and then unless the server
# refuses a reload itself, which SIGHUP requests without a check.
expect_refusal() {
    : >"$log"
    if systemctl reload robot-rocket; then fail "a reload with wrong files succeeds"; fi
    run 'journalctl*' | grep "$1"
    kill -HUP "$(service)"
    within_a_minute logged "the reload was refused.*$1"
}

logged() { [ "$(grep --count "$1" "$log")" -ge "${2-1}" ]; }

install_service "$programs"
old=$(new_token ci)
install -m 640 -g robot-rocket entry /etc/robot-rocket.tokens
setting ROCKET_API_TOKENS_FILE=/etc/robot-rocket.tokens
setting ROCKET_METRICS_ADDRESS=127.0.0.1:9100
systemctl start robot-rocket
within_a_minute robot-rocket --ready
exec 3<>/dev/tcp/127.0.0.1/8000
expect "$old" 200

run 'robot-cli token new*' >/dev/null
new=$(new_token ci-2)
substitute 'write:ci-2:sha256:…' "$(cat entry)"
run 'echo *>>*'
run 'systemctl reload*'
expect "$new" 200
expect "$old" 200
run 'curl*token_requests' | grep 'token="ci-2"'
run 'sed*'
run 'systemctl reload*'
reloaded() { run 'journalctl*' | grep 'tokens and certificates were reloaded .*tokens_removed=.*:ci:'; }
within_a_minute reloaded
expect "$old" 401
expect "$new" 200
curl --silent http://127.0.0.1:9100/metrics | grep 'robots_http_requests_total{.*status="401"' >/dev/null ||
    fail "the metrics do not show the refused request"

# A wrong file is refused, and the tokens stay.
cp -p /etc/robot-rocket.tokens tokens
echo 'write:ci-3:sha256:too-short' >>/etc/robot-rocket.tokens
expect_refusal "line 2 of the file '/etc/robot-rocket.tokens'"
expect "$new" 200
cp -p tokens /etc/robot-rocket.tokens
exec 3>&-
systemctl stop robot-rocket

# The end of the certificate in the file, as the document prints that of the server.
end_of_file() { openssl x509 -noout -enddate <new-chain.pem; }

serves_new() { [ "$(run 'openssl*')" = "$(end_of_file)" ]; }

substitute robots.example:443 127.0.0.1:8000
new_certificate 10
install -d -m 755 /etc/robot-rocket
run 'install*new-chain.pem*'
run 'install*new-key.pem*'
setting 'ROCKET_TLS={certs="/etc/robot-rocket/chain.pem",key="/etc/robot-rocket/key.pem"}'
systemctl start robot-rocket
within_a_minute serves_new
logged 'the certificate file .* expires at' || fail "the log does not mention that the certificate expires soon"
# A connection that stays open, and its answers.
mkfifo requests
openssl s_client -quiet -connect 127.0.0.1:8000 <requests >answers 2>/dev/null &
exec 4>requests
request="GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
answers() { [ "$(grep --count '^HTTP/1.1 200' answers)" -eq "$1" ]; }
printf '%b' "$request" >&4
within_a_minute answers 1

new_certificate 60
run 'install*new-chain.pem*'
run 'install*new-key.pem*'
run 'systemctl reload*'
within_a_minute serves_new
printf '%b' "$request" >&4
within_a_minute answers 2

# The script that certbot runs after a renewal.
new_certificate 70
mkdir renewed
cp new-chain.pem renewed/fullchain.pem
cp new-key.pem renewed/privkey.pem
# shellcheck disable=SC2034 # The script uses it.
RENEWED_LINEAGE=$work/renewed
run 'install -d*'
run 'install*fullchain.pem*'
run 'install*privkey.pem*'
run 'systemctl reload*'
within_a_minute serves_new
printf '%b' "$request" >&4
within_a_minute answers 3

# The key of another certificate is refused, and the certificate stays.
served=$(end_of_file)
cp new-chain.pem chain.pem
cp new-key.pem key.pem
new_certificate 90
run 'install*new-key.pem*'
expect_refusal "the key file '/etc/robot-rocket/key.pem' of tls.key does not belong to"
[ "$(run 'openssl*')" = "$served" ] || fail "a certificate with a wrong key was accepted"
mv chain.pem new-chain.pem
mv key.pem new-key.pem
run 'install*new-chain.pem*'
run 'install*new-key.pem*'
: >"$log"
systemctl reload robot-rocket
within_a_minute logged 'were reloaded'
printf '%b' "$request" >&4
within_a_minute answers 4
is_running || fail "the server has ended"
finish

# Runs a PostgreSQL server in the current folder, executes pg_ctl commands from its input line by line, and stops at the end
# of the input. Usage: sh postgres.sh PROGRAMS PORT PASSWORD [PRIMARY]
# With the port of a primary, the server is a standby of it by streaming replication.
programs=$1 port=$2 password=$3 primary=$4
exec 2>>log
umask 077
# PostgreSQL refuses to run as root.
if [ "$(id -u)" -eq 0 ]; then as="setpriv --reuid=postgres --regid=postgres --clear-groups --"; else as=; fi

owned() { [ -z "$as" ] || chown -R postgres "$@"; }
control() { $as "$programs/pg_ctl" -D data -s -w -t 60 -l data/log "$@" </dev/null >>log 2>&1; }

# Creates an authority with a certificate of this server, and a second authority that is not trusted.
certify() {
    for name in authority stranger; do
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$name" \
            -keyout "$name.key" -out "$name.crt"
    done
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost \
        -keyout data/server.key -out server.csr
    echo 'subjectAltName=DNS:localhost' >names
    openssl x509 -req -in server.csr -CA authority.crt -CAkey authority.key -CAcreateserial -days 2 -extfile names \
        -out data/server.crt
}

# A standby copies all settings of its primary.
follow() {
    chmod 755 .. . && mkdir -m 700 data && owned data || return
    PGPASSWORD=$password $as "$programs/pg_basebackup" -d "host=127.0.0.1 port=$primary user=hesper application_name=standby" \
        -D data -R -X stream -c fast --no-sync || return
    echo "port = $port" >>data/postgresql.conf
    cat settings >>data/postgresql.conf
}

make() {
    chmod 755 .. . && mkdir data && owned data && echo "$password" >password && owned password || return
    $as "$programs/initdb" -D data -U hesper -A scram-sha-256 --pwfile=password -E UTF8 --locale=C.UTF-8 --no-sync \
        --no-instructions || return
    certify && owned data || return
    cat >>data/postgresql.conf <<END
listen_addresses = '127.0.0.1'
port = $port
unix_socket_directories = ''
max_connections = 200
ssl = on
fsync = off
full_page_writes = off
shared_buffers = 64MB
lc_messages = 'C'
END
    # The settings of this server, one per line.
    cat settings >>data/postgresql.conf
}

if [ -n "$primary" ]; then begin=follow; else begin=make; fi
$begin >>log 2>&1 && control start && echo ok || echo failed
while read -r line; do
    # shellcheck disable=SC2086
    control $line && echo ok || echo failed
done
control stop -m immediate
rm -rf "$PWD"

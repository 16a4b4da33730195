#include <libpq-fe.h>
#include <openssl/ssl.h>

/// Keeps OpenSSL from being taken down when the process ends (OPENSSL_init_crypto(3)): other threads may be connecting then,
/// and would read what is gone. Nothing of it outlives the process. Only does so before OpenSSL's first use.
static inline void postgres_keep_openssl(void) {
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}

/// The parts of an error. (Swift cannot read macros that are characters.)
static const int postgres_severity = PG_DIAG_SEVERITY_NONLOCALIZED;
static const int postgres_sqlstate = PG_DIAG_SQLSTATE;
static const int postgres_message = PG_DIAG_MESSAGE_PRIMARY;
static const int postgres_detail = PG_DIAG_MESSAGE_DETAIL;
static const int postgres_constraint = PG_DIAG_CONSTRAINT_NAME;

/// How many bytes OpenSSL has taken from the socket and not yet given out: poll() knows nothing of them.
static inline int postgres_pending(PGconn *connection) {
    SSL *ssl = (SSL *)PQsslStruct(connection, "OpenSSL");
    return ssl ? SSL_pending(ssl) : 0;
}

#include <libpq-fe.h>
#include <openssl/ssl.h>

/// Disables OpenSSL's cleanup at process exit (OPENSSL_init_crypto(3)), because other threads may still use OpenSSL then. The
/// operating system frees its resources. Must be called before the first use of OpenSSL.
static inline void postgres_disable_openssl_cleanup(void) {
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}

/// The fields of an error. In C because Swift does not import character macros.
static const int postgres_severity = PG_DIAG_SEVERITY_NONLOCALIZED;
static const int postgres_sqlstate = PG_DIAG_SQLSTATE;
static const int postgres_message = PG_DIAG_MESSAGE_PRIMARY;
static const int postgres_detail = PG_DIAG_MESSAGE_DETAIL;
static const int postgres_constraint = PG_DIAG_CONSTRAINT_NAME;

/// The number of decrypted bytes that OpenSSL has buffered, of which poll() on the socket is not aware.
static inline int postgres_pending(PGconn *connection) {
    SSL *ssl = (SSL *)PQsslStruct(connection, "OpenSSL");
    return ssl ? SSL_pending(ssl) : 0;
}

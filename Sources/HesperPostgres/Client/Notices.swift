import CPostgres

/// The notices that a server sends in addition to results.
final class Notices {
    /// The codes of the warnings since the last ``clearWarnings()``.
    private var warnings: [String] = []
    /// The error with which the server ended the session; nil if the session has not ended.
    private(set) var fatal: PostgresError?

    /// Receives the notices of a connection. By default libpq writes them to standard error.
    func attach(to connection: OpaquePointer) {
        // The unretained pointer is safe: `Connection` owns this object, and calls `PQfinish` before it releases this object.
        PQsetNoticeReceiver(
            connection,
            { context, result in
                guard let context, let result else { return }
                Unmanaged<Notices>.fromOpaque(context).takeUnretainedValue().take(result)
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func take(_ result: OpaquePointer) {
        let severity = PQresultErrorField(result, postgres_severity).map { String(cString: $0) }
        let error = PostgresError(result, statement: nil)
        switch severity {
        case "FATAL", "PANIC": fatal = error
        case "WARNING": warnings.append(error.sqlState)
        default: break
        }
    }

    func clearWarnings() { warnings.removeAll() }

    /// Whether a commit is durable on this server but may be missing on the synchronous standbys. PostgreSQL reports such a
    /// commit as successful, with a warning (syncrep.c).
    var warnOfMissingReplication: Bool { warnings.contains { $0 == "01000" || $0 == "57P01" } }
}

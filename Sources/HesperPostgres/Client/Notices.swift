import CPostgres

/// What a server says beside its answers.
final class Notices {
    /// Warnings, since they were asked for last, by their code.
    private var warnings: [String] = []
    /// What it said when it ended the session.
    private(set) var fatal: PostgresError?

    /// Without this libpq would write them to standard error.
    func attach(to connection: OpaquePointer) {
        // The connection has both this and the handle, and gives up the handle first.
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

    func forgetWarnings() { warnings.removeAll() }

    /// Whether a commit was kept here and not by the standbys that it was to wait for: the server only warns, and says
    /// that all is well (PostgreSQL, syncrep.c).
    var saysThatStandbysMayLackIt: Bool { warnings.contains { $0 == "01000" || $0 == "57P01" } }
}

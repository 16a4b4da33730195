import CPostgres
import HesperStore

/// An error of a connection, with its SQLSTATE (PostgreSQL, Appendix A). Its ``description`` is for the log only.
struct PostgresError: Error, Sendable, Equatable {
    /// The SQLSTATE: five characters, of which the first two are the class of the error. A lost connection has the class 08.
    let sqlState: String
    let message: String
    /// Details from the server. They may contain values of rows, so they must not be logged.
    var detail: String?
    var constraint: String?
    /// The statement that failed.
    var statement: String?

    /// The connection is lost. Whether a pending commit succeeded is unknown.
    static func lost(_ message: String) -> PostgresError { PostgresError(sqlState: "08006", message: message) }
    /// No connection could be made.
    static func unreachable(_ message: String) -> PostgresError { PostgresError(sqlState: "08001", message: message) }
    /// A statement exceeded its timeout and was cancelled.
    static func late(_ message: String) -> PostgresError { PostgresError(sqlState: "57014", message: message) }
    /// An invalid use of this client: a bug in Hesper.
    static func misuse(_ message: String) -> PostgresError { PostgresError(sqlState: "0B000", message: message) }

    /// Client and server disagree on which result comes next: a bug in Hesper.
    static var outOfSync: PostgresError { .lost("unexpected result: the pipeline is out of sync") }

    var isUniqueViolation: Bool { sqlState == "23505" }

    /// Whether the session must be closed: it has ended, or its server no longer accepts writes, or its prepared statements
    /// are invalid after a schema change (0A000) or DEALLOCATE (26000).
    var isConnection: Bool {
        switch sqlState.prefix(2) {
        case "08": true
        case "57": sqlState != "57014"
        default: ["25006", "25P03", "0A000", "26000"].contains(sqlState)
        }
    }

    /// Whether a retry of the transaction may succeed.
    var isRetryable: Bool {
        isConnection || ["08", "40", "53", "55", "57", "58"].contains(sqlState.prefix(2))
    }
}

extension PostgresError {
    init(_ result: OpaquePointer, statement: String?) {
        func field(_ code: Int32) -> String? { PQresultErrorField(result, code).map { String(cString: $0) } }
        // libpq's own errors have no SQLSTATE; all of them concern the connection.
        self.init(
            sqlState: field(postgres_sqlstate) ?? "08006",
            message: field(postgres_message) ?? PQresultErrorMessage(result).map(PostgresError.line) ?? "",
            detail: field(postgres_detail), constraint: field(postgres_constraint), statement: statement)
    }

    /// Joins the lines of a message of libpq with spaces.
    static func line(_ text: UnsafePointer<CChar>) -> String {
        String(cString: text).split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    static func line(_ text: UnsafeMutablePointer<CChar>) -> String { line(UnsafePointer(text)) }
}

extension PostgresError: CustomStringConvertible {
    var description: String {
        var text = "PostgreSQL \(sqlState): \(message)"
        if let constraint { text += " (\(constraint))" }
        if let statement { text += " in: \(statement.prefix(200))" }
        return text
    }
}

extension StoreError {
    /// Maps an SQLSTATE to a store error: `full` or `unavailable` for temporary conditions, such as a full disk, a lost
    /// connection or a lock of another session, `damaged` for a damaged database, and `failed` for all others, which are bugs.
    /// Failed authentication, a missing database and missing privileges are `unavailable` because the operator can correct them
    /// while the server runs.
    init(_ error: PostgresError) {
        switch (error.sqlState, error.sqlState.prefix(2)) {
        case ("53100", _): self = .full("\(error)")
        case ("XX001", _), ("XX002", _): self = .damaged("\(error)")
        case _ where error.isRetryable: self = .unavailable("\(error)")
        case (_, "28"), (_, "3D"), ("42501", _): self = .unavailable("\(error)")
        default: self = .failed("\(error)")
        }
    }
}

/// Runs `body` and converts a ``PostgresError`` to a ``StoreError``; other errors pass unchanged.
func mappingErrors<T>(_ body: () throws -> T) throws -> T {
    do {
        return try body()
    } catch let error as PostgresError {
        throw StoreError(error)
    }
}

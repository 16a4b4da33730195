import CPostgres
import HesperStore

/// What went wrong on a connection, with PostgreSQL's own code (its documentation, Appendix A). Its texts are for the log.
struct PostgresError: Error, Sendable, Equatable {
    /// Five characters; the first two are the class. Losses of the connection have those of class 08.
    let sqlState: String
    let message: String
    /// May hold values of rows: never for the log.
    var detail: String?
    var constraint: String?
    /// The statement that it happened in.
    var statement: String?

    /// The connection is lost: whether the transaction was kept nobody knows.
    static func lost(_ message: String) -> PostgresError { PostgresError(sqlState: "08006", message: message) }
    /// No connection could be made.
    static func unreachable(_ message: String) -> PostgresError { PostgresError(sqlState: "08001", message: message) }
    /// It took too long and was cancelled.
    static func late(_ message: String) -> PostgresError { PostgresError(sqlState: "57014", message: message) }
    /// Something that the client was asked for and can not do: a mistake in Hesper.
    static func misuse(_ message: String) -> PostgresError { PostgresError(sqlState: "0B000", message: message) }

    var isUniqueViolation: Bool { sqlState == "23505" }

    /// Whether the session is of no use any more: it is over, or on a server that no longer takes writes, or it knows a
    /// schema that is no longer so (0A000: a cached plan; 26000: a statement that somebody deallocated).
    var isConnection: Bool {
        switch sqlState.prefix(2) {
        case "08": true
        case "57": sqlState != "57014"
        default: ["25006", "25P03", "0A000", "26000"].contains(sqlState)
        }
    }

    /// Whether the same may go well the next time.
    var isRetryable: Bool {
        isConnection || ["08", "40", "53", "55", "57", "58"].contains(sqlState.prefix(2))
    }
}

extension PostgresError {
    init(_ result: OpaquePointer, statement: String?) {
        func field(_ code: Int32) -> String? { PQresultErrorField(result, code).map { String(cString: $0) } }
        // libpq's own errors have no code: they are all of the connection.
        self.init(
            sqlState: field(postgres_sqlstate) ?? "08006",
            message: field(postgres_message) ?? PQresultErrorMessage(result).map(PostgresError.line) ?? "",
            detail: field(postgres_detail), constraint: field(postgres_constraint), statement: statement)
    }

    /// libpq's text in one line.
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
    /// Sorts PostgreSQL's codes into what may pass (a server that is away, a full disk, somebody else's lock) and what is
    /// a mistake. Who may not sign in, or may not do something, is told so by the operator's mending it.
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

/// Names what fails in PostgreSQL in the store's own words; all other errors pass.
func namingErrors<T>(_ body: () throws -> T) throws -> T {
    do {
        return try body()
    } catch let error as PostgresError {
        throw StoreError(error)
    }
}

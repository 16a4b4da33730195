import CPostgres
import Foundation

/// A session on a server, always in libpq's pipeline mode. It belongs to one thread at a time, which waits in `poll()`
/// and never without a limit.
///
///     connection.enqueue("BEGIN")
///     let head = try connection.first(lock, [.scope(scope)]) { $0.integer(0) }   // one round trip for both
///     connection.enqueue(advance, [.scope(scope), .int8(8)], expecting: 1)
///     try connection.run("COMMIT")                                               // and one for these
///
/// Every statement is prepared once, by its text, when it is first used: parameters have the types of the first arguments,
/// or those that PostgreSQL finds where one was null.
final class Connection {
    let handle: OpaquePointer
    /// How long one wait may take before what is waited for is cancelled.
    var patience: Duration
    /// How often an answer was waited for.
    var roundTrips = 0
    /// Why there is no use in it any more.
    var brokenBy: PostgresError?
    /// Of what was enqueued, and not told yet.
    var failure: (any Error)?
    /// The statements that the server knows, or will when it has read what is on its way.
    var prepared: [String: Prepared] = [:]
    var preparedCount = 0
    var cursorCount = 0
    /// What the server will answer, in its order.
    var pending: [Expected] = []
    /// The answers that somebody waits for.
    var awaited: [Answer] = []
    /// How many bytes are in the pipeline since it was emptied last, about.
    var enqueuedBytes = 0
    var parameters = Parameters()
    /// Whether the server took writes when this session began.
    private(set) var tookWrites = true
    let notices = Notices()
    /// For tests: told of every statement as it is sent.
    var log: ((String) -> Void)?

    struct Prepared {
        let name: String
        let types: [Oid]
    }

    /// What the next answer belongs to.
    enum Expected {
        case preparation(of: String)
        case statement(String, rows: Int?, isAwaited: Bool)
        case sync
    }

    /// How long a question that costs nothing may take.
    static let grace: Duration = .seconds(2)
    /// How often a statement that takes too long is cancelled, a second apart: one that has not begun yet takes no notice.
    var cancellations = 5

    /// Connects, host by host as libpq does it; each has its `connect_timeout`.
    /// - Throws: ``PostgresError``.
    init(_ settings: PostgresSettings) throws {
        guard let handle = Connection.connect(settings) else { throw PostgresError.unreachable("out of memory") }
        self.handle = handle
        patience = settings.statementTimeout
        guard PQstatus(handle) == CONNECTION_OK else {
            throw PostgresError.unreachable(PQerrorMessage(handle).map(PostgresError.line) ?? "")
        }
        notices.attach(to: handle)
        PQsetnonblocking(handle, 1)
        try execute(script: settings.sessionScript)
        tookWrites = takesWrites
    }

    deinit { PQfinish(handle) }

    private static let keepOpenSSL: Void = postgres_keep_openssl()

    private static func connect(_ settings: PostgresSettings) -> OpaquePointer? {
        keepOpenSSL
        let parameters = settings.parameters
        let keywords = parameters.map { UnsafePointer(strdup($0.keyword)) } + [nil]
        let values = parameters.map { UnsafePointer(strdup($0.value)) } + [nil]
        defer { for pointer in keywords + values { free(UnsafeMutableRawPointer(mutating: pointer)) } }
        return PQconnectdbParams(keywords, values, 1)
    }

    /// Whether it stands in a transaction, failed or not.
    var isInTransaction: Bool {
        [PQTRANS_INTRANS, PQTRANS_INERROR].contains(PQtransactionStatus(handle))
    }

    /// Whether the transaction it stands in can only be undone.
    var hasFailed: Bool { PQtransactionStatus(handle) == PQTRANS_INERROR }

    /// The server's process for this session.
    var processID: Int32 { PQbackendPID(handle) }

    /// Whether the server takes writes, as far as it has said: it tells of changes with its next answer (since version 14).
    var takesWrites: Bool {
        ["in_hot_standby", "default_transaction_read_only"].allSatisfy { (name: String) in
            PQparameterStatus(handle, name).map { String(cString: $0) } != "on"
        }
    }

    /// Whether the server, which took writes, has been told to leave them to another.
    var isOutOfOffice: Bool { tookWrites && !takesWrites }

    /// Keeps that there is no use in it any more.
    @discardableResult
    func broke(_ error: PostgresError) -> PostgresError {
        if brokenBy == nil { brokenBy = error }
        pending.removeAll()
        return error
    }

    /// libpq's last word, as a loss of the connection; what the server said when it ended the session, if it did.
    func lost() -> PostgresError {
        if let last = notices.fatal { return broke(last) }
        return broke(.lost(PQerrorMessage(handle).map(PostgresError.line) ?? ""))
    }
}

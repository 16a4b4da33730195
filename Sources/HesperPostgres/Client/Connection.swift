import CPostgres
import Foundation

/// A session on a PostgreSQL server, in libpq's pipeline mode except during scripts and copies. One thread uses it at a
/// time. That thread blocks in `poll()`, always with a timeout.
///
///     connection.enqueue("BEGIN")
///     let head = try connection.first(lock, [.scope(scope)]) { $0.integer(0) }   // one round trip for both
///     connection.enqueue(advance, [.scope(scope), .int8(8)], expecting: 1)
///     try connection.run("COMMIT")                                               // and one for these
///
/// Each distinct statement text is prepared on first use. The types of the statement's parameters are the types of the arguments
/// in this first use. If an argument is null, PostgreSQL infers the type of its parameter.
final class Connection {
    private let handle: OpaquePointer
    /// The maximum time to wait for a result of the server. After this time the running statement is cancelled.
    var timeout: Duration
    /// The number of round trips to the server.
    private(set) var roundTrips = 0
    /// The error that made the connection unusable; nil while it is usable.
    private(set) var brokenBy: PostgresError?
    /// The first error of an enqueued statement that has not been thrown yet; nil if there is none.
    private var failure: (any Error)?
    private var prepared = PreparedStatements()
    private var cursorCount = 0
    /// The results that the server still has to send, in order.
    private var pending: [Expected] = []
    /// The received results that the current call will return.
    private var awaited: [QueryResult] = []
    /// The approximate number of bytes of arguments that are enqueued and not sent yet.
    private var enqueuedBytes = 0
    private var parameters = Parameters()
    /// Whether the server accepted writes when this session began.
    private var acceptedWrites = true
    private let notices = Notices()
    /// For tests: called with the text of each statement as it is sent.
    var log: ((String) -> Void)?

    /// A result that the server still has to send. It is the result of preparing a statement, the result of executing a
    /// statement, or the confirmation of the end of the pipeline.
    private enum Expected {
        case preparation(of: String)
        case statement(String, rows: Int?, isAwaited: Bool)
        case sync
    }

    /// The maximum time to wait for the result of a trivial query, such as `SELECT 1`.
    static let probeTimeout: Duration = .seconds(2)
    /// The maximum number of enqueued bytes. If more bytes are enqueued, they are sent before the next statement is enqueued.
    private static let pipelineLimit = 1 << 20
    /// The maximum number of cancel requests for a statement that exceeds its timeout. They are sent one second apart. Several may
    /// be necessary, because the server ignores a cancel request that arrives before the statement starts.
    private var cancellations = 5

    /// Connects. libpq tries the hosts of the connection string in order, each for at most `connect_timeout`.
    /// - Throws: ``PostgresError``.
    init(_ settings: PostgresSettings) throws {
        guard let handle = settings.connect() else { throw PostgresError.unreachable("out of memory") }
        self.handle = handle
        timeout = settings.statementTimeout
        guard PQstatus(handle) == CONNECTION_OK else {
            throw PostgresError.unreachable(PQerrorMessage(handle).map(PostgresError.line) ?? "")
        }
        notices.attach(to: handle)
        PQsetnonblocking(handle, 1)
        try execute(script: settings.sessionScript)
        acceptedWrites = acceptsWrites
    }

    deinit { PQfinish(handle) }

    /// Whether a transaction is open. True also if the transaction has failed and was not rolled back yet.
    var isInTransaction: Bool {
        [PQTRANS_INTRANS, PQTRANS_INERROR].contains(PQtransactionStatus(handle))
    }

    /// Whether the open transaction has failed and can only be rolled back.
    var hasFailed: Bool { PQtransactionStatus(handle) == PQTRANS_INERROR }

    /// The ID of the process that serves this session on the PostgreSQL server.
    var processID: Int32 { PQbackendPID(handle) }

    /// Whether the server accepts writes, according to its most recent report. PostgreSQL 14 and later report a change with the
    /// next result.
    private var acceptsWrites: Bool {
        ["in_hot_standby", "default_transaction_read_only"].allSatisfy { (name: String) in
            PQparameterStatus(handle, name).map { String(cString: $0) } != "on"
        }
    }

    /// Whether the server accepted writes at the start of the session and no longer does, because another server has become the
    /// primary.
    var hasStoppedAcceptingWrites: Bool { acceptedWrites && !acceptsWrites }

    // MARK: Closing

    /// Marks the connection as unusable because of an error. If it is unusable already, its first error is kept.
    @discardableResult
    private func markBroken(_ error: PostgresError) -> PostgresError {
        if brokenBy == nil { brokenBy = error }
        pending.removeAll()
        return error
    }

    /// Marks the connection as lost. Returns the error that the server sent before it ended the session, or libpq's error if the
    /// server sent none.
    private func connectionLost() -> PostgresError {
        if let last = notices.fatal { return markBroken(last) }
        return markBroken(.lost(PQerrorMessage(handle).map(PostgresError.line) ?? ""))
    }

    /// Prepares the connection for the next user: discards errors and rolls back an open transaction.
    func reset(timeout: Duration) {
        self.timeout = timeout
        failure = nil
        log = nil
        if !pending.isEmpty { try? flush() }
        guard brokenBy == nil, isInTransaction else { return }
        do {
            try run("ROLLBACK")
        } catch {
            markBroken(.lost("rollback failed: \(error)"))
        }
    }

    // MARK: The pipeline

    /// Sends a statement without waiting for its result. Its errors are thrown by the next call that waits.
    /// - Parameters:
    ///   - isPrepared: whether to use a prepared statement; false for texts that never recur because they contain a unique name.
    ///   - rows: the number of rows that the statement must change. Any other number is an error. Nil if any number is allowed.
    func enqueue(
        _ sql: String, _ arguments: [PostgresValue] = [], isPrepared: Bool = true, expecting rows: Int? = nil
    ) {
        // If an earlier statement has failed, this one is not sent. The server would skip it anyway.
        guard failure == nil else { return }
        do {
            try send(sql, arguments, isPrepared: isPrepared, expecting: rows, isAwaited: false)
        } catch {
            failure = error
        }
    }

    /// Waits until all enqueued statements have been executed.
    func flush() throws { _ = try settle() }

    private func send(
        _ sql: String, _ arguments: [PostgresValue], isPrepared: Bool = true, expecting rows: Int? = nil,
        isAwaited: Bool
    ) throws {
        if let brokenBy { throw brokenBy }
        log?(sql)
        try parameters.set(arguments)
        let name = isPrepared ? try prepare(sql) : ""
        let types = parameters.oids
        let isSent = parameters.withPointers { arguments in
            if isPrepared {
                PQsendQueryPrepared(
                    handle, name, arguments.count, arguments.values, arguments.lengths, arguments.formats, 1)
            } else {
                PQsendQueryParams(
                    handle, sql, arguments.count, types, arguments.values, arguments.lengths, arguments.formats, 1)
            }
        }
        guard isSent == 1 else { throw connectionLost() }
        pending.append(.statement(sql, rows: rows, isAwaited: isAwaited))
        enqueuedBytes += parameters.byteCount
        if enqueuedBytes > Connection.pipelineLimit { try push() }
    }

    /// Returns the name of the prepared statement; enqueues its preparation first if needed.
    private func prepare(_ sql: String) throws -> String {
        let types = parameters.oids
        if let known = try prepared.name(of: sql, types) { return known }
        let name = prepared.add(sql, types)
        guard PQsendPrepare(handle, name, sql, Int32(types.count), types) == 1 else { throw connectionLost() }
        pending.append(.preparation(of: sql))
        return name
    }

    /// Sends all enqueued bytes. Meanwhile reads the data that arrives, so that neither side has to buffer much.
    private func push() throws {
        var timeout = Timeout(timeout)
        while PQflush(handle) == 1 {
            try wait(forSending: true, &timeout)
            guard PQconsumeInput(handle) == 1 else { throw connectionLost() }
        }
        enqueuedBytes = 0
    }

    /// Waits until all enqueued statements have been executed, and returns the awaited results.
    /// - Throws: the error of the first statement that failed. The server did not execute the later statements in the pipeline.
    private func settle() throws -> [QueryResult] {
        defer {
            failure = nil
            awaited = []
        }
        if brokenBy == nil, !pending.isEmpty {
            do {
                try settlePipeline()
            } catch {
                throw brokenBy ?? error
            }
        }
        if let error = brokenBy ?? failure { throw error }
        return awaited
    }

    private func settlePipeline() throws {
        guard PQpipelineSync(handle) == 1 else { throw connectionLost() }
        pending.append(.sync)
        roundTrips += 1
        enqueuedBytes = 0
        notices.clearWarnings()
        let expected = pending
        pending.removeAll(keepingCapacity: true)
        var timeout = Timeout(timeout)
        for expected in expected { try receive(expected, &timeout) }
        if timeout.hasExpired { record(PostgresError.late("the statements took longer than \(self.timeout)")) }
    }

    private func receive(_ expected: Expected, _ timeout: inout Timeout) throws {
        if case .sync = expected {
            guard let rawResult = try nextResult(&timeout) else { throw markBroken(.outOfSync) }
            defer { PQclear(rawResult) }
            guard PQresultStatus(rawResult) == PGRES_PIPELINE_SYNC else { throw markBroken(.outOfSync) }
            return
        }
        while let rawResult = try nextResult(&timeout) { take(rawResult, of: expected) }
    }

    private func take(_ rawResult: OpaquePointer, of expected: Expected) {
        let result = QueryResult(rawResult)
        let status = PQresultStatus(rawResult)
        let succeeded = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK
        switch expected {
        case .preparation(let sql):
            guard !succeeded else { return }
            prepared.remove(sql)
            if status != PGRES_PIPELINE_ABORTED { record(PostgresError(rawResult, statement: sql)) }
        case .statement(let sql, let rows, let isAwaited):
            guard succeeded else {
                if status != PGRES_PIPELINE_ABORTED { record(PostgresError(rawResult, statement: sql)) }
                return
            }
            if let rows, result.changed != rows {
                record(PostgresError.misuse("changed \(result.changed) rows instead of \(rows) in: \(sql)"))
            }
            if let error = commitFailure(result, of: sql) { record(error) }
            if isAwaited { awaited.append(result) }
        case .sync: break
        }
    }

    /// Detects a COMMIT that PostgreSQL reports as successful although the transaction was rolled back, or although a synchronous
    /// standby may not have received it. Returns nil for all other results.
    private func commitFailure(_ result: QueryResult, of sql: String) -> PostgresError? {
        guard sql == "COMMIT" else { return nil }
        if PQcmdStatus(result.handle).map({ String(cString: $0) }) != "COMMIT" {
            return PostgresError(sqlState: "25P02", message: "the transaction had failed before its commit")
        }
        guard notices.warnOfMissingReplication else { return nil }
        return markBroken(.lost("the commit may not have reached the synchronous standbys"))
    }

    /// Records an error. If an earlier error is recorded already, the earlier error is kept, because it is the cause of this one.
    private func record(_ error: PostgresError) {
        if error.isConnection { markBroken(error) }
        if failure == nil { failure = error }
    }

    // MARK: Queries

    /// Executes a statement after all enqueued statements, and returns its result.
    func result(_ sql: String, _ arguments: [PostgresValue], isPrepared: Bool = true) throws -> QueryResult {
        // An earlier failure of an enqueued statement is thrown first.
        if failure == nil { try send(sql, arguments, isPrepared: isPrepared, isAwaited: true) }
        guard let result = try settle().last else { throw markBroken(.outOfSync) }
        return result
    }

    /// Executes several statements in one round trip and returns their results.
    func results(_ statements: [(sql: String, arguments: [PostgresValue])]) throws -> [QueryResult] {
        if failure == nil {
            for statement in statements { try send(statement.sql, statement.arguments, isAwaited: true) }
        }
        let results = try settle()
        guard results.count == statements.count else { throw markBroken(.outOfSync) }
        return results
    }

    /// A cursor name that is unique in this session.
    func nextCursorName() -> String {
        cursorCount += 1
        return "c\(cursorCount)"
    }

    // MARK: Outside the pipeline

    /// Executes several statements without arguments, after all enqueued statements.
    func execute(script: String) throws {
        try outsidePipeline {
            log?(script)
            guard PQsendQuery(handle, script) == 1 else { throw connectionLost() }
            roundTrips += 1
            try finish(script)
        }
    }

    /// Runs `body` with pipeline mode turned off, because libpq does not support scripts and copies in a pipeline.
    func outsidePipeline<T>(_ body: () throws -> T) throws -> T {
        try flush()
        if PQpipelineStatus(handle) != PQ_PIPELINE_OFF, PQexitPipelineMode(handle) != 1 { throw connectionLost() }
        defer {
            if brokenBy == nil, PQenterPipelineMode(handle) != 1 { _ = connectionLost() }
        }
        return try body()
    }

    /// Reads the remaining results of a statement that was sent outside the pipeline.
    /// - Returns: the number of changed rows, from the last result.
    @discardableResult
    func finish(_ sql: String) throws -> Int {
        var timeout = Timeout(timeout)
        var failure: PostgresError?
        var changed = 0
        while let rawResult = try nextResult(&timeout) {
            let result = QueryResult(rawResult)
            if ![PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY].contains(PQresultStatus(rawResult)) {
                failure = failure ?? PostgresError(rawResult, statement: sql)
            }
            changed = result.changed
        }
        if let failure { throw failure.isConnection ? markBroken(failure) : failure }
        if timeout.hasExpired { throw PostgresError.late("the statement took longer than \(self.timeout)") }
        return changed
    }

    /// Begins a copy, outside the pipeline.
    func beginCopy(_ sql: String, _ direction: ExecStatusType) throws {
        log?(sql)
        guard PQsendQuery(handle, sql) == 1 else { throw connectionLost() }
        roundTrips += 1
        var timeout = Timeout(timeout)
        guard let rawResult = try nextResult(&timeout) else { throw markBroken(.outOfSync) }
        defer { PQclear(rawResult) }
        guard PQresultStatus(rawResult) == direction else {
            let error = PostgresError(rawResult, statement: sql)
            try finish(sql)
            throw error
        }
    }

    /// Sends bytes of a copy. If the server does not accept them yet, waits until it does.
    func putCopy(_ bytes: [UInt8]) throws {
        // The timeout applies to each piece of data and not to the whole copy, which may take long.
        var timeout = Timeout(timeout)
        let isPut = bytes.withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { PQputCopyData(handle, $0.baseAddress, Int32($0.count)) }
        }
        guard isPut == 1 else { throw connectionLost() }
        while PQflush(handle) == 1 {
            try wait(forSending: true, &timeout)
            // If the server reports an error during the copy, it discards all further data. The error is read at the end of the
            // copy.
            guard PQconsumeInput(handle) == 1 else { throw connectionLost() }
        }
    }

    /// Ends a copy to the server. If `reason` is not nil, the copy is aborted and the server discards its rows.
    /// - Returns: the number of copied rows.
    @discardableResult
    func endCopy(_ sql: String, undoing reason: String? = nil) throws -> Int {
        guard PQputCopyEnd(handle, reason) == 1 else { throw connectionLost() }
        return try finish(sql)
    }

    /// Passes the next piece of a copy from the server to `body`.
    /// - Returns: whether there may be more pieces.
    func nextCopyPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        var timeout = Timeout(timeout)
        var piece: UnsafeMutablePointer<CChar>?
        while true {
            switch PQgetCopyData(handle, &piece, 1) {
            case 0: try waitForInput(&timeout)
            case let count where count > 0:
                defer { PQfreemem(piece) }
                try body(UnsafeRawBufferPointer(start: piece, count: Int(count)))
                return true
            case -1: return false
            default: throw connectionLost()
            }
        }
    }

    // MARK: Waiting

    /// Runs `body`, which executes only trivial queries, with a short timeout. If the timeout expires, the connection becomes
    /// unusable. No cancel request is sent, because a server that does not respond would not process a cancel request either.
    func withProbeTimeout<T>(_ body: () throws -> T) rethrows -> T {
        let usual = (timeout: timeout, cancellations: cancellations)
        timeout = Connection.probeTimeout
        cancellations = 0
        defer {
            timeout = usual.timeout
            cancellations = usual.cancellations
        }
        return try body()
    }

    /// The next result from the server; nil after the last result of each statement.
    private func nextResult(_ timeout: inout Timeout) throws -> OpaquePointer? {
        while PQisBusy(handle) != 0 { try waitForInput(&timeout) }
        let rawResult = PQgetResult(handle)
        if PQstatus(handle) == CONNECTION_BAD {
            let reported = rawResult.map { PostgresError($0, statement: nil) }
            if let rawResult { PQclear(rawResult) }
            let lost = connectionLost()
            throw reported.map { $0.sqlState == "08006" ? lost : markBroken($0) } ?? lost
        }
        return rawResult
    }

    /// Sends buffered bytes, waits until the socket is ready, and reads the data that has arrived.
    private func waitForInput(_ timeout: inout Timeout) throws {
        let unsent = PQflush(handle)
        // An error of PQflush is ignored, so that the server's message about the end of the session can still be read.
        if postgres_pending(handle) == 0 { try wait(forSending: unsent == 1, &timeout) }
        guard PQconsumeInput(handle) == 1 else { throw connectionLost() }
    }

    /// Waits until the socket is readable. If `sends` is true, also returns when the socket is writable. Cancels the running
    /// statement on a timeout.
    private func wait(forSending sends: Bool, _ timeout: inout Timeout) throws {
        var socket = pollfd(fd: PQsocket(handle), events: Int16(POLLIN) | (sends ? Int16(POLLOUT) : 0), revents: 0)
        while true {
            switch poll(&socket, 1, max(0, timeout.milliseconds)) {
            case 1...: return
            case 0 where timeout.extensions < cancellations:
                cancel()
                timeout.extend(by: .seconds(1))
            case 0:
                throw markBroken(
                    .lost(
                        cancellations > 0
                            ? "no response in time, and no response to a cancel request" : "no response in time"))
            default: guard errno == EINTR else { throw markBroken(.lost(String(cString: strerror(errno)))) }
            }
        }
    }

    /// Requests that the server cancel the running statement. libpq opens a connection to the same host for this.
    func cancel() {
        guard let request = PQgetCancel(handle) else { return }
        defer { PQfreeCancel(request) }
        var message = [CChar](repeating: 0, count: 256)
        // The return value is ignored. The result of the statement shows whether it was cancelled.
        PQcancel(request, &message, Int32(message.count))
    }

    /// Whether the connection looks usable, judging only by its recorded state and the data that has arrived. Takes no round trip.
    func seemsAlive() -> Bool {
        guard brokenBy == nil, PQstatus(handle) == CONNECTION_OK, !hasStoppedAcceptingWrites else { return false }
        var socket = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        guard poll(&socket, 1, 0) > 0 else { return true }
        guard PQconsumeInput(handle) == 1, PQisBusy(handle) == 0, PQstatus(handle) == CONNECTION_OK,
            notices.fatal == nil
        else {
            _ = connectionLost()
            return false
        }
        return true
    }

    /// Waits for a notification while no statement is running.
    /// - Returns: whether anything arrived.
    func waitForNotification(_ duration: Duration) throws -> Bool {
        var socket = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        guard postgres_pending(handle) > 0 || poll(&socket, 1, Timeout(duration).milliseconds) > 0 else {
            return false
        }
        guard PQconsumeInput(handle) == 1, PQisBusy(handle) == 0, notices.fatal == nil else { throw connectionLost() }
        return true
    }

    /// The next notification that has arrived; nil if there is none.
    func nextNotification() -> (channel: String, payload: String)? {
        guard let notification = PQnotifies(handle) else { return nil }
        defer { PQfreemem(notification) }
        return (String(cString: notification.pointee.relname), String(cString: notification.pointee.extra))
    }
}

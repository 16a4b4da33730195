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
    private let handle: OpaquePointer
    /// How long one wait may take before what is waited for is cancelled.
    var patience: Duration
    /// How often an answer was waited for.
    private(set) var roundTrips = 0
    /// Why there is no use in it any more.
    private(set) var brokenBy: PostgresError?
    /// Of what was enqueued, and not told yet.
    private var failure: (any Error)?
    private var prepared = PreparedStatements()
    private var cursorCount = 0
    /// What the server will answer, in its order.
    private var pending: [Expected] = []
    /// The answers that somebody waits for.
    private var awaited: [Answer] = []
    /// How many bytes are in the pipeline since it was emptied last, about.
    private var enqueuedBytes = 0
    private var parameters = Parameters()
    /// Whether the server took writes when this session began.
    private var tookWrites = true
    private let notices = Notices()
    /// For tests: told of every statement as it is sent.
    var log: ((String) -> Void)?

    /// What the next answer belongs to.
    private enum Expected {
        case preparation(of: String)
        case statement(String, rows: Int?, isAwaited: Bool)
        case sync
    }

    /// How long a question that costs nothing may take.
    static let grace: Duration = .seconds(2)
    /// Bytes in the pipeline from which on the next statement waits until they are on their way.
    private static let pipelineLimit = 1 << 20
    /// How often a statement that takes too long is cancelled, a second apart: one that has not begun yet takes no notice.
    private var cancellations = 5

    /// Connects, host by host as libpq does it; each has its `connect_timeout`.
    /// - Throws: ``PostgresError``.
    init(_ settings: PostgresSettings) throws {
        guard let handle = settings.connect() else { throw PostgresError.unreachable("out of memory") }
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

    /// Whether it stands in a transaction, failed or not.
    var isInTransaction: Bool {
        [PQTRANS_INTRANS, PQTRANS_INERROR].contains(PQtransactionStatus(handle))
    }

    /// Whether the transaction it stands in can only be undone.
    var hasFailed: Bool { PQtransactionStatus(handle) == PQTRANS_INERROR }

    /// The server's process for this session.
    var processID: Int32 { PQbackendPID(handle) }

    /// Whether the server takes writes, as far as it has said: it tells of changes with its next answer (since version 14).
    private var takesWrites: Bool {
        ["in_hot_standby", "default_transaction_read_only"].allSatisfy { (name: String) in
            PQparameterStatus(handle, name).map { String(cString: $0) } != "on"
        }
    }

    /// Whether the server, which took writes, has been told to leave them to another.
    var isOutOfOffice: Bool { tookWrites && !takesWrites }

    // MARK: Its end

    /// Keeps that there is no use in it any more.
    @discardableResult
    private func broke(_ error: PostgresError) -> PostgresError {
        if brokenBy == nil { brokenBy = error }
        pending.removeAll()
        return error
    }

    /// libpq's last word, as a loss of the connection; what the server said when it ended the session, if it did.
    private func lost() -> PostgresError {
        if let last = notices.fatal { return broke(last) }
        return broke(.lost(PQerrorMessage(handle).map(PostgresError.line) ?? ""))
    }

    /// Leaves nothing of what was done on it to the next.
    func tidy(patience: Duration) {
        self.patience = patience
        failure = nil
        log = nil
        if !pending.isEmpty { try? flush() }
        guard brokenBy == nil, isInTransaction else { return }
        do {
            try run("ROLLBACK")
        } catch {
            broke(.lost("can not undo: \(error)"))
        }
    }

    // MARK: The pipeline

    /// Sends a statement without waiting for its answer. What goes wrong is thrown by the next call that waits.
    /// - Parameters:
    ///   - isNamed: whether it is prepared; what has a name in its text would be so for nothing.
    ///   - rows: how many it must change; another number is an error.
    func enqueue(
        _ sql: String, _ arguments: [PostgresValue] = [], isNamed: Bool = true, expecting rows: Int? = nil
    ) {
        // What follows something that failed would be passed over by the server too.
        guard failure == nil else { return }
        do {
            try send(sql, arguments, isNamed: isNamed, expecting: rows, isAwaited: false)
        } catch {
            failure = error
        }
    }

    /// Waits for all that was sent.
    func flush() throws { _ = try settle() }

    private func send(
        _ sql: String, _ arguments: [PostgresValue], isNamed: Bool = true, expecting rows: Int? = nil,
        isAwaited: Bool
    ) throws {
        if let brokenBy { throw brokenBy }
        log?(sql)
        try parameters.set(arguments)
        let name = isNamed ? try prepare(sql) : ""
        let types = parameters.given
        let isSent = parameters.withPointers { arguments in
            if isNamed {
                PQsendQueryPrepared(
                    handle, name, arguments.count, arguments.values, arguments.lengths, arguments.formats, 1)
            } else {
                PQsendQueryParams(
                    handle, sql, arguments.count, types, arguments.values, arguments.lengths, arguments.formats, 1)
            }
        }
        guard isSent == 1 else { throw lost() }
        pending.append(.statement(sql, rows: rows, isAwaited: isAwaited))
        enqueuedBytes += parameters.byteCount
        if enqueuedBytes > Connection.pipelineLimit { try push() }
    }

    /// The name of the statement on the server, which is told of it first if need be.
    private func prepare(_ sql: String) throws -> String {
        let types = parameters.given
        if let known = try prepared.name(of: sql, types) { return known }
        let name = prepared.add(sql, types)
        guard PQsendPrepare(handle, name, sql, Int32(types.count), types) == 1 else { throw lost() }
        pending.append(.preparation(of: sql))
        return name
    }

    /// Waits until all that was enqueued has left, and reads what has come, so that neither side has to keep much.
    private func push() throws {
        var patience = Patience(patience)
        while PQflush(handle) == 1 {
            try wait(forSending: true, &patience)
            guard PQconsumeInput(handle) == 1 else { throw lost() }
        }
        enqueuedBytes = 0
    }

    /// Waits for all that was sent, and gives the answers that were awaited.
    /// - Throws: the first error of them all: what came after it in the pipeline was not done.
    private func settle() throws -> [Answer] {
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
        guard PQpipelineSync(handle) == 1 else { throw lost() }
        pending.append(.sync)
        roundTrips += 1
        enqueuedBytes = 0
        notices.forgetWarnings()
        let expected = pending
        pending.removeAll(keepingCapacity: true)
        var patience = Patience(patience)
        for expected in expected { try receive(expected, &patience) }
        if patience.isOver { note(PostgresError.late("took longer than \(self.patience)")) }
    }

    private func receive(_ expected: Expected, _ patience: inout Patience) throws {
        if case .sync = expected {
            guard let result = try nextResult(&patience) else { throw broke(.lost("out of step")) }
            defer { PQclear(result) }
            guard PQresultStatus(result) == PGRES_PIPELINE_SYNC else { throw broke(.lost("out of step")) }
            return
        }
        while let result = try nextResult(&patience) { take(result, of: expected) }
    }

    private func take(_ result: OpaquePointer, of expected: Expected) {
        let answer = Answer(result)
        let status = PQresultStatus(result)
        let isFine = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK
        switch expected {
        case .preparation(let sql):
            guard !isFine else { return }
            prepared.remove(sql)
            if status != PGRES_PIPELINE_ABORTED { note(PostgresError(result, statement: sql)) }
        case .statement(let sql, let rows, let isAwaited):
            guard isFine else {
                if status != PGRES_PIPELINE_ABORTED { note(PostgresError(result, statement: sql)) }
                return
            }
            if let rows, answer.changed != rows {
                note(PostgresError.misuse("\(answer.changed) rows instead of \(rows) in: \(sql)"))
            }
            if let error = commitFailure(answer, of: sql) { note(error) }
            if isAwaited { awaited.append(answer) }
        case .sync: break
        }
    }

    /// A commit that says that all is well and was none.
    private func commitFailure(_ answer: Answer, of sql: String) -> PostgresError? {
        guard sql == "COMMIT" else { return nil }
        if PQcmdStatus(answer.handle).map({ String(cString: $0) }) != "COMMIT" {
            return PostgresError(sqlState: "25P02", message: "the transaction had failed before its commit")
        }
        guard notices.saysThatStandbysMayLackIt else { return nil }
        return broke(.lost("the commit may not have reached its standbys"))
    }

    /// Keeps the first error, as it is the cause of those that follow.
    private func note(_ error: PostgresError) {
        if error.isConnection { broke(error) }
        if failure == nil { failure = error }
    }

    // MARK: Queries

    func answer(_ sql: String, _ arguments: [PostgresValue], isNamed: Bool = true) throws -> Answer {
        // What was enqueued in vain comes first.
        if failure == nil { try send(sql, arguments, isNamed: isNamed, isAwaited: true) }
        guard let answer = try settle().last else { throw broke(.lost("out of step")) }
        return answer
    }

    /// The answers of several statements, asked for at once.
    func answers(_ statements: [(sql: String, arguments: [PostgresValue])]) throws -> [Answer] {
        if failure == nil {
            for statement in statements { try send(statement.sql, statement.arguments, isAwaited: true) }
        }
        let answers = try settle()
        guard answers.count == statements.count else { throw broke(.lost("out of step")) }
        return answers
    }

    /// A name for a cursor that no other of the session has.
    func nextCursorName() -> String {
        cursorCount += 1
        return "c\(cursorCount)"
    }

    // MARK: Outside the pipeline

    /// Does several statements that have no arguments, with what was enqueued before them.
    func execute(script: String) throws {
        try outsidePipeline {
            log?(script)
            guard PQsendQuery(handle, script) == 1 else { throw lost() }
            roundTrips += 1
            try finish(script)
        }
    }

    /// Does what libpq can not do in a pipeline.
    func outsidePipeline<T>(_ body: () throws -> T) throws -> T {
        try flush()
        if PQpipelineStatus(handle) != PQ_PIPELINE_OFF, PQexitPipelineMode(handle) != 1 { throw lost() }
        defer {
            if brokenBy == nil, PQenterPipelineMode(handle) != 1 { _ = lost() }
        }
        return try body()
    }

    /// Reads the answers of what was sent outside the pipeline to their end.
    @discardableResult
    func finish(_ sql: String) throws -> Int {
        var patience = Patience(patience)
        var failure: PostgresError?
        var changed = 0
        while let result = try nextResult(&patience) {
            let answer = Answer(result)
            if ![PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY].contains(PQresultStatus(result)) {
                failure = failure ?? PostgresError(result, statement: sql)
            }
            changed = answer.changed
        }
        if let failure { throw failure.isConnection ? broke(failure) : failure }
        if patience.isOver { throw PostgresError.late("took longer than \(self.patience)") }
        return changed
    }

    /// Begins a copy, outside the pipeline.
    func beginCopy(_ sql: String, _ direction: ExecStatusType) throws {
        log?(sql)
        guard PQsendQuery(handle, sql) == 1 else { throw lost() }
        roundTrips += 1
        var patience = Patience(patience)
        guard let result = try nextResult(&patience) else { throw broke(.lost("out of step")) }
        defer { PQclear(result) }
        guard PQresultStatus(result) == direction else {
            let error = PostgresError(result, statement: sql)
            try finish(sql)
            throw error
        }
    }

    /// Sends bytes of a copy, and waits when the server takes no more for now.
    func putCopy(_ bytes: [UInt8]) throws {
        // Each piece has its own time: what is limited is how long the server stands still.
        var patience = Patience(patience)
        let isPut = bytes.withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { PQputCopyData(handle, $0.baseAddress, Int32($0.count)) }
        }
        guard isPut == 1 else { throw lost() }
        while PQflush(handle) == 1 {
            try wait(forSending: true, &patience)
            // An error that comes meanwhile is read at the end: until then the server passes over what it is sent.
            guard PQconsumeInput(handle) == 1 else { throw lost() }
        }
    }

    /// Ends a copy to the server, and undoes it if there is a reason.
    /// - Returns: how many rows it had.
    @discardableResult
    func endCopy(_ sql: String, undoing reason: String? = nil) throws -> Int {
        guard PQputCopyEnd(handle, reason) == 1 else { throw lost() }
        return try finish(sql)
    }

    /// Gives the next piece of a copy from the server.
    /// - Returns: whether there may be more.
    func nextCopyPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        var patience = Patience(patience)
        var piece: UnsafeMutablePointer<CChar>?
        while true {
            switch PQgetCopyData(handle, &piece, 1) {
            case 0: try waitForInput(&patience)
            case let count where count > 0:
                defer { PQfreemem(piece) }
                try body(UnsafeRawBufferPointer(start: piece, count: Int(count)))
                return true
            case -1: return false
            default: throw lost()
            }
        }
    }

    // MARK: Waiting

    /// Does `body`, whose questions cost nothing. A server that leaves one of them without an answer hangs, and hears of no
    /// cancelling: the connection is given up.
    func soon<T>(_ body: () throws -> T) rethrows -> T {
        let usual = (patience: patience, cancellations: cancellations)
        patience = Connection.grace
        cancellations = 0
        defer {
            patience = usual.patience
            cancellations = usual.cancellations
        }
        return try body()
    }

    /// The next result of what is pending, nil between two statements.
    private func nextResult(_ patience: inout Patience) throws -> OpaquePointer? {
        while PQisBusy(handle) != 0 { try waitForInput(&patience) }
        let result = PQgetResult(handle)
        if PQstatus(handle) == CONNECTION_BAD {
            let said = result.map { PostgresError($0, statement: nil) }
            if let result { PQclear(result) }
            let lost = lost()
            throw said.map { $0.sqlState == "08006" ? lost : broke($0) } ?? lost
        }
        return result
    }

    /// Sends what is to be sent until there is something to read, and reads it.
    private func waitForInput(_ patience: inout Patience) throws {
        let unsent = PQflush(handle)
        // What the server said before it closed is still to be read: so a failed write shows itself there.
        if postgres_pending(handle) == 0 { try wait(forSending: unsent == 1, &patience) }
        guard PQconsumeInput(handle) == 1 else { throw lost() }
    }

    /// Waits until the socket can be read, or written to; cancels what runs when that takes too long.
    private func wait(forSending sends: Bool, _ patience: inout Patience) throws {
        var socket = pollfd(fd: PQsocket(handle), events: Int16(POLLIN) | (sends ? Int16(POLLOUT) : 0), revents: 0)
        while true {
            switch poll(&socket, 1, max(0, patience.milliseconds)) {
            case 1...: return
            case 0 where patience.extensions < cancellations:
                cancel()
                patience.extend(by: .seconds(1))
            case 0: throw broke(.lost("no answer\(cancellations > 0 ? ", not even to being cancelled" : "") in time"))
            default: guard errno == EINTR else { throw broke(.lost(String(cString: strerror(errno)))) }
            }
        }
    }

    /// Asks the server to end what it does for this session. libpq makes a connection of its own for it, to the same host.
    func cancel() {
        guard let request = PQgetCancel(handle) else { return }
        defer { PQfreeCancel(request) }
        var message = [CChar](repeating: 0, count: 256)
        // Whether it arrived shows in what the statement answers.
        PQcancel(request, &message, Int32(message.count))
    }

    /// Whether the server is there and takes writes, if it did, as far as the socket knows: costs no round trip.
    func seemsAlive() -> Bool {
        guard brokenBy == nil, PQstatus(handle) == CONNECTION_OK, !isOutOfOffice else { return false }
        var socket = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        guard poll(&socket, 1, 0) > 0 else { return true }
        guard PQconsumeInput(handle) == 1, PQisBusy(handle) == 0, PQstatus(handle) == CONNECTION_OK,
            notices.fatal == nil
        else {
            _ = lost()
            return false
        }
        return true
    }

    /// Waits for something to come while nothing was asked.
    /// - Returns: whether something did.
    func waitForNotification(_ duration: Duration) throws -> Bool {
        var socket = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        guard postgres_pending(handle) > 0 || poll(&socket, 1, Patience(duration).milliseconds) > 0 else {
            return false
        }
        guard PQconsumeInput(handle) == 1, PQisBusy(handle) == 0, notices.fatal == nil else { throw lost() }
        return true
    }

    /// What has come.
    func nextNotification() -> (channel: String, payload: String)? {
        guard let notification = PQnotifies(handle) else { return nil }
        defer { PQfreemem(notification) }
        return (String(cString: notification.pointee.relname), String(cString: notification.pointee.extra))
    }
}

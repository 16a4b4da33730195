import HesperStore
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Connections to a server, a bounded number, made when they are needed. What is done on them is done on threads of the
/// pool's own, first come, first served; nobody else's thread waits. Some of them are only for those who do not write.
///
///     let pool = PostgresPool(PostgresSettings("postgresql://localhost/hesper"))
///     let count = try await pool.run { try $0.first("SELECT count(*) FROM scopes") { $0.int(0) } }
final class PostgresPool: Sendable {
    let settings: PostgresSettings
    private let threads: NIOThreadPool
    private let gate = ConnectionGate()
    private let state: NIOLockedValueBox<State>

    /// A connection nobody has. It went from thread to thread under the lock, and never was with two.
    private struct Parked: @unchecked Sendable {
        let connection: Connection
        let since: ContinuousClock.Instant
    }

    private struct State {
        var isClosed = false
        var queue: PoolQueue
        /// The one used last is at the end, and used next.
        var idle: [Parked] = []
        /// When a connection was lost: those that have been idle since may be lost too.
        var lossDate: ContinuousClock.Instant?
        /// Who waits for the last thread to be done.
        var closers: [CheckedContinuation<Void, Never>] = []
    }

    init(_ settings: PostgresSettings) {
        self.settings = settings
        state = NIOLockedValueBox(State(queue: PoolQueue(size: settings.size, writers: settings.writers)))
        threads = NIOThreadPool(numberOfThreads: settings.size)
        threads.start()
    }

    /// Does `body` on a connection, in no transaction but those that it begins; what it enqueued is waited for, and a
    /// transaction that it left open is undone. It is done to its end even if its task is cancelled meanwhile.
    /// - Parameter writes: whether it commits something, and so may have to wait for longer than a server takes to answer.
    /// - Throws: what `body` throws; ``StoreError`` for a ``PostgresError``, `unavailable` if there is no connection.
    func run<T: Sendable>(
        writes: Bool = false, _ body: @escaping @Sendable (Connection) throws -> T
    ) async throws -> T {
        try await withCheckedThrowingContinuation { done in
            enter(
                PoolJob(
                    writes: writes,
                    perform: { connection in
                        let result = Result {
                            try namingErrors {
                                let value = try body(connection)
                                try connection.flush()
                                return value
                            }
                        }
                        connection.tidy(patience: self.settings.statementTimeout)
                        return { done.resume(with: result) }
                    }, refuse: { done.resume(throwing: $0) }))
        }
    }

    private func enter(_ job: PoolJob) {
        let refusal: StoreError? = state.withLockedValue { state in
            if state.isClosed { return .unavailable("it is being closed") }
            if state.queue.begin(job) {
                threads.submit { _ in self.work(job) }
                return nil
            }
            let waits = state.queue.wait(job) { number in
                MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: .init(settings.patience)) {
                    self.expire(number)
                }
            }
            return waits ? nil : .unavailable("too many wait for it")
        }
        if let refusal { job.refuse(refusal) }
    }

    private func expire(_ number: Int) {
        guard let job = state.withLockedValue({ $0.queue.remove(number) }) else { return }
        let connections = job.writes ? "\(settings.writers) connections for writing" : "\(settings.size) connections"
        job.refuse(.unavailable("all \(connections) were busy for \(settings.patience)"))
    }

    /// Does a job, and then those that wait, until there are none.
    private func work(_ job: PoolJob) {
        var next: PoolJob? = job
        while let job = next {
            job.timer?.cancel()
            let tell = done(job)
            let closers = state.withLockedValue { state -> [CheckedContinuation<Void, Never>] in
                next = state.queue.next(after: job)
                guard state.queue.running == 0 else { return [] }
                defer { state.closers = [] }
                return state.closers
            }
            tell()
            for closer in closers { closer.resume() }
        }
    }

    /// Does a job, and gives what tells its end.
    private func done(_ job: PoolJob) -> () -> Void {
        do {
            let connection = try checkOut()
            let tell = job.perform(connection)
            park(connection)
            return tell
        } catch {
            let error = error as? StoreError ?? .failed("\(error)")
            return { job.refuse(error) }
        }
    }

    /// An idle connection that is still there, or a new one.
    private func checkOut() throws -> Connection {
        while let parked = state.withLockedValue({ $0.idle.popLast() }) {
            let lossDate = state.withLockedValue { $0.lossDate }
            let isTrusted =
                lossDate.map { $0 < parked.since } ?? true && .now - parked.since < settings.trustsIdle
            let connection = parked.connection
            guard connection.seemsAlive() else {
                lose()
                continue
            }
            if isTrusted { return connection }
            let answers = connection.answers()
            if answers, connection.seemsAlive() { return connection }
            lose()
            // If the server hangs, so do the others: a new one tells, and nobody waits for each of them.
            if !answers { break }
        }
        return try namingErrors { try gate.connect { try Connection(settings) } }
    }

    private func park(_ connection: Connection) {
        guard connection.brokenBy == nil else { return lose() }
        let parked = Parked(connection: connection, since: .now)
        state.withLockedValue { if !$0.isClosed { $0.idle.append(parked) } }
    }

    private func lose() { state.withLockedValue { $0.lossDate = .now } }

    /// Ends when all that was asked for is done and all connections are closed; what is asked for after it is refused.
    func close() async {
        await withCheckedContinuation { done in
            let isDone = state.withLockedValue { state in
                state.isClosed = true
                state.idle = []
                guard state.queue.running > 0 else { return true }
                state.closers.append(done)
                return false
            }
            if isDone { done.resume() }
        }
        try? await threads.shutdownGracefully()
    }

    /// How busy it is.
    var status: PoolStatus {
        state.withLockedValue {
            PoolStatus(
                limit: settings.size, busy: $0.queue.running, idle: $0.idle.count, waiting: $0.queue.waiting)
        }
    }
    /// How many connections nobody has.
    var idleCount: Int { state.withLockedValue { $0.idle.count } }
    /// How many requests wait.
    var waitingCount: Int { state.withLockedValue { $0.queue.waiting } }
}

extension Connection {
    /// Whether a look at the server comes back; it need not take long.
    fileprivate func answers() -> Bool { (try? soon { try run("SELECT 1") }) != nil }
}

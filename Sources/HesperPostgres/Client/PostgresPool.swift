import HesperStore
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Connections to a server, a bounded number, made when they are needed. What is done on them is done on threads of the
/// pool's own, first come, first served; nobody else's thread waits.
///
///     let pool = PostgresPool(PostgresSettings("postgresql://localhost/hesper"))
///     let count = try await pool.run { try $0.first("SELECT count(*) FROM scopes") { $0.int(0) } }
final class PostgresPool: Sendable {
    let settings: PostgresSettings
    private let threads: NIOThreadPool
    private let gate = ConnectionGate()
    private let state = NIOLockedValueBox(State())

    /// Requests that may wait at once: more would only wait in vain.
    private static let waitingLimit = 10_000

    /// A connection nobody has. It went from thread to thread under the lock, and never was with two.
    private struct Parked: @unchecked Sendable {
        let connection: Connection
        let since: ContinuousClock.Instant
    }

    /// Something to do on a connection.
    private struct Job: Sendable {
        /// Gives back what tells who asked for it: for when the connection is free again.
        let perform: @Sendable (Connection) -> () -> Void
        let refuse: @Sendable (StoreError) -> Void
        var number = 0
        /// Ends its waiting.
        var timer: Scheduled<Void>?
    }

    private struct State {
        var isClosed = false
        /// How many threads are at work.
        var running = 0
        var waiting = CircularBuffer<Job>()
        var lastNumber = 0
        /// The one used last is at the end, and used next.
        var idle: [Parked] = []
        /// When a connection was lost: those that have been idle since may be lost too.
        var lossDate: ContinuousClock.Instant?
        /// Who waits for the last thread to be done.
        var closers: [CheckedContinuation<Void, Never>] = []
    }

    init(_ settings: PostgresSettings) {
        self.settings = settings
        threads = NIOThreadPool(numberOfThreads: settings.size)
        threads.start()
    }

    /// Does `body` on a connection, in no transaction but those that it begins; what it enqueued is waited for, and a
    /// transaction that it left open is undone. It is done to its end even if its task is cancelled meanwhile.
    /// - Throws: what `body` throws; ``StoreError`` for a ``PostgresError``, `unavailable` if there is no connection.
    func run<T: Sendable>(_ body: @escaping @Sendable (Connection) throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { done in
            enter(
                Job(
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

    private func enter(_ job: Job) {
        let refusal: StoreError? = state.withLockedValue { state in
            if state.isClosed { return .unavailable("it is being closed") }
            if state.running < settings.size {
                state.running += 1
                threads.submit { _ in self.work(job) }
                return nil
            }
            guard state.waiting.count < PostgresPool.waitingLimit else { return .unavailable("too many wait for it") }
            state.lastNumber += 1
            var job = job
            let number = state.lastNumber
            job.number = number
            job.timer = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: .init(settings.patience)) {
                self.expire(number)
            }
            state.waiting.append(job)
            return nil
        }
        if let refusal { job.refuse(refusal) }
    }

    private func expire(_ number: Int) {
        let job = state.withLockedValue { state in
            state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
        }
        job?.refuse(.unavailable("all \(settings.size) connections were busy for \(settings.patience)"))
    }

    /// Does a job, and then those that wait, until there are none.
    private func work(_ job: Job) {
        var next: Job? = job
        while let job = next {
            job.timer?.cancel()
            let tell = done(job)
            let closers = state.withLockedValue { state -> [CheckedContinuation<Void, Never>] in
                next = state.waiting.popFirst()
                guard next == nil else { return [] }
                state.running -= 1
                guard state.running == 0 else { return [] }
                defer { state.closers = [] }
                return state.closers
            }
            tell()
            for closer in closers { closer.resume() }
        }
    }

    /// Does a job, and gives what tells its end.
    private func done(_ job: Job) -> () -> Void {
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
            if connection.seemsAlive(), isTrusted || connection.answers() && connection.seemsAlive() {
                return connection
            }
            lose()
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
                guard state.running > 0 else { return true }
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
                limit: settings.size, busy: $0.running, idle: $0.idle.count, waiting: $0.waiting.count)
        }
    }
    /// How many connections nobody has.
    var idleCount: Int { state.withLockedValue { $0.idle.count } }
    /// How many requests wait.
    var waitingCount: Int { state.withLockedValue { $0.waiting.count } }
}

extension Connection {
    /// Whether a look at the server comes back; it need not take long.
    fileprivate func answers() -> Bool {
        let patience = patience
        self.patience = Connection.grace
        defer { self.patience = patience }
        return (try? run("SELECT 1")) != nil
    }

    /// Leaves nothing of what was done on it to the next.
    fileprivate func tidy(patience: Duration) {
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
}

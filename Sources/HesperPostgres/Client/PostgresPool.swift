import HesperStore
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A bounded pool of connections, made on demand. Jobs run on the pool's own threads in order of arrival and block no
/// other threads. Some connections are reserved for jobs that do not write.
///
///     let pool = PostgresPool(PostgresSettings("postgresql://localhost/hesper"))
///     let count = try await pool.run { try $0.first("SELECT count(*) FROM scopes") { $0.int(0) } }
final class PostgresPool: Sendable {
    let settings: PostgresSettings
    private let threads: NIOThreadPool
    private let throttle = ConnectionThrottle()
    private let state: NIOLockedValueBox<State>

    /// A connection that is not in use. It is safe to declare it Sendable, because it is passed between threads only while `state`
    /// is locked, and only one thread uses it at a time.
    private struct IdleConnection: @unchecked Sendable {
        let connection: Connection
        let since: ContinuousClock.Instant
    }

    private struct State {
        var isClosed = false
        var queue: PoolQueue
        /// The idle connections, in the order in which they became idle. The last one is used next.
        var idle: [IdleConnection] = []
        /// The time at which a connection was most recently lost; nil if none was lost. Connections that were idle at this time may
        /// be lost too.
        var lossDate: ContinuousClock.Instant?
        /// The continuations of the callers that wait in ``close()``. They are resumed when no job is running.
        var closers: [CheckedContinuation<Void, Never>] = []
    }

    init(_ settings: PostgresSettings) {
        self.settings = settings
        state = NIOLockedValueBox(State(queue: PoolQueue(size: settings.size, writers: settings.writers)))
        threads = NIOThreadPool(numberOfThreads: settings.size)
        threads.start()
    }

    /// Runs `body` on a connection with no open transaction. Afterwards, enqueued statements are completed, and a transaction that
    /// is still open is rolled back. `body` runs to its end even if the task is cancelled.
    /// - Parameter writes: whether `body` commits changes; a commit may wait for synchronous standbys.
    /// - Throws: the errors of `body`, with each ``PostgresError`` converted to a ``StoreError``; `unavailable` if there is no
    ///   connection.
    func run<T: Sendable>(
        writes: Bool = false, _ body: @escaping @Sendable (Connection) throws -> T
    ) async throws -> T {
        try await withCheckedThrowingContinuation { done in
            enter(
                PoolJob(
                    writes: writes,
                    perform: { connection in
                        let result = Result {
                            try mappingErrors {
                                let value = try body(connection)
                                try connection.flush()
                                return value
                            }
                        }
                        connection.reset(timeout: self.settings.statementTimeout)
                        return { done.resume(with: result) }
                    }, refuse: { done.resume(throwing: $0) }))
        }
    }

    private func enter(_ job: PoolJob) {
        let refusal: StoreError? = state.withLockedValue { state in
            if state.isClosed { return .unavailable("the connection pool is closed") }
            if state.queue.begin(job) {
                threads.submit { _ in self.work(job) }
                return nil
            }
            let waits = state.queue.wait(job) { number in
                MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: .init(settings.checkoutTimeout)) {
                    self.expire(number)
                }
            }
            return waits ? nil : .unavailable("too many requests are waiting for a connection")
        }
        if let refusal { job.refuse(refusal) }
    }

    private func expire(_ number: Int) {
        guard let job = state.withLockedValue({ $0.queue.remove(number) }) else { return }
        let connections = job.writes ? "\(settings.writers) connections for writing" : "\(settings.size) connections"
        job.refuse(.unavailable("all \(connections) were busy for \(settings.checkoutTimeout)"))
    }

    /// Runs a job. Then runs waiting jobs, one after another, until no waiting job may run.
    private func work(_ job: PoolJob) {
        var next: PoolJob? = job
        while let job = next {
            job.timer?.cancel()
            let complete = perform(job)
            let closers = state.withLockedValue { state -> [CheckedContinuation<Void, Never>] in
                next = state.queue.next(after: job)
                guard state.queue.running == 0 else { return [] }
                defer { state.closers = [] }
                return state.closers
            }
            complete()
            for closer in closers { closer.resume() }
        }
    }

    /// Runs a job.
    /// - Returns: a closure that reports its result.
    private func perform(_ job: PoolJob) -> () -> Void {
        do {
            let connection = try checkOut()
            let complete = job.perform(connection)
            checkIn(connection)
            return complete
        } catch {
            let error = error as? StoreError ?? .failed("\(error)")
            return { job.refuse(error) }
        }
    }

    /// Returns an idle connection that is still usable, or a new one.
    private func checkOut() throws -> Connection {
        while let idle = state.withLockedValue({ $0.idle.popLast() }) {
            let lossDate = state.withLockedValue { $0.lossDate }
            let isTrusted =
                lossDate.map { $0 < idle.since } ?? true && .now - idle.since < settings.idleCheckThreshold
            let connection = idle.connection
            guard connection.seemsAlive() else {
                lose()
                continue
            }
            if isTrusted { return connection }
            let responds = connection.responds()
            if responds, connection.seemsAlive() { return connection }
            lose()
            // If the server does not respond on this connection, it will not respond on the other idle connections either. So
            // make a new connection without testing them.
            if !responds { break }
        }
        return try mappingErrors { try throttle.connect { try Connection(settings) } }
    }

    private func checkIn(_ connection: Connection) {
        guard connection.brokenBy == nil else { return lose() }
        let idle = IdleConnection(connection: connection, since: .now)
        state.withLockedValue { if !$0.isClosed { $0.idle.append(idle) } }
    }

    private func lose() { state.withLockedValue { $0.lossDate = .now } }

    /// Closes the pool: refuses new jobs, waits for accepted ones, then closes all connections.
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

    /// The load of the pool, for metrics.
    var status: PoolStatus {
        state.withLockedValue {
            PoolStatus(
                limit: settings.size, busy: $0.queue.running, idle: $0.idle.count, waiting: $0.queue.waiting)
        }
    }
    /// The number of idle connections.
    var idleCount: Int { state.withLockedValue { $0.idle.count } }
    /// The number of waiting jobs.
    var waitingCount: Int { state.withLockedValue { $0.queue.waiting } }
}

extension Connection {
    /// Whether the server responds to a trivial query in a short time.
    fileprivate func responds() -> Bool { (try? withProbeTimeout { try run("SELECT 1") }) != nil }
}

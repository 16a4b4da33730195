import HesperStore
import NIOConcurrencyHelpers

/// Looks up sessions by token. Every request starts with such a lookup, so those that arrive during a query share the next
/// one: many lookups cost little more than one. A connection that hangs delays them only for a short time.
final class SessionLookups: Sendable {
    private let pool: PostgresPool
    private let log: (@Sendable (String) -> Void)?
    private let state = NIOLockedValueBox(State())

    private struct Lookup: Sendable {
        let token: TokenHash
        let done: CheckedContinuation<Session?, any Error>
        /// Whether a connection was lost during the lookup.
        var wasLost = false
    }

    /// The connection is lost; the lookups are retried on another one.
    private struct ConnectionLost: Error {}

    private struct State {
        var waiting: [Lookup] = []
        var isBusy = false
    }

    /// The maximum number of tokens in one query.
    private static let limit = 256

    init(pool: PostgresPool, log: (@Sendable (String) -> Void)?) {
        self.pool = pool
        self.log = log
    }

    func session(of token: TokenHash) async throws -> Session? {
        try await withCheckedThrowingContinuation { done in
            let begins = state.withLockedValue { state in
                state.waiting.append(Lookup(token: token, done: done))
                defer { state.isBusy = true }
                return !state.isBusy
            }
            if begins { Task { await run() } }
        }
    }

    /// Resolves the waiting lookups and those that arrive meanwhile, on one connection; on another one if it is lost.
    private func run() async {
        while true {
            do {
                return try await pool.run { connection in
                    connection.log = self.log
                    while let lookups = self.next() { try self.resolve(lookups, on: connection) }
                }
            } catch is ConnectionLost {
                continue
            } catch {
                // There is no usable connection: all waiting lookups fail with the same error.
                let waiting = state.withLockedValue { state in
                    defer { state = State() }
                    return state.waiting
                }
                for lookup in waiting { lookup.done.resume(throwing: error) }
                return
            }
        }
    }

    /// Takes the next waiting lookups. If there are none, returns nil and ends the processing.
    private func next() -> [Lookup]? {
        state.withLockedValue { state in
            let next = Array(state.waiting.prefix(SessionLookups.limit))
            state.waiting.removeFirst(next.count)
            state.isBusy = !next.isEmpty
            return next.isEmpty ? nil : next
        }
    }

    /// Puts lookups back at the front of the queue.
    private func requeue(_ lookups: some Collection<Lookup>) {
        state.withLockedValue { $0.waiting.insert(contentsOf: lookups, at: 0) }
    }

    /// - Throws: an error after which the connection is unusable.
    private func resolve(_ lookups: [Lookup], on connection: Connection) throws {
        // On a retry use the normal timeout: then the server is slow, not the connection lost.
        let isLast = lookups.contains { $0.wasLost }
        func fetch() throws -> [TokenHash: Session] {
            try SessionLookups.sessions(of: lookups.map(\.token), on: connection)
        }
        let found = Result { try mappingErrors { try isLast ? fetch() : connection.withProbeTimeout(fetch) } }
        if connection.brokenBy != nil, !isLast {
            requeue(lookups.map { Lookup(token: $0.token, done: $0.done, wasLost: true) })
            throw ConnectionLost()
        }
        if case .failure(let error) = found, lookups.count > 1, (error as? StoreError)?.isUnavailable != true {
            // A damaged row must not fail the other lookups, so resolve each separately.
            for (index, lookup) in lookups.enumerated() {
                do { try resolve([lookup], on: connection) } catch {
                    requeue(lookups[(index + 1)...])
                    throw error
                }
            }
            return
        }
        for lookup in lookups { lookup.done.resume(with: found.map { $0[lookup.token] }) }
        if let brokenBy = connection.brokenBy { throw brokenBy }
    }

    private static func sessions(of tokens: [TokenHash], on connection: Connection) throws -> [TokenHash: Session] {
        var sessions: [TokenHash: Session] = [:]
        try connection.query(sql, [.bytesArray(tokens.map(\.bytes))]) { row in
            sessions[TokenHash(bytes: Array(row.bytes(12)))] = Session(
                device: try row.device(),
                head: ScopeHead(scope: row.scope(9), sequence: row.integer(10), digest: try row.digest(11)),
                isDisabled: !row.isNull(13))
            return true
        }
        return sessions
    }

    /// A single statement reads one snapshot.
    private static let sql = """
        SELECT d.node, d.account, d.name, d.app_version, d.user_agent, d.creation_date, d.last_use_date, d.read_date,
            d.last_use_address, s.id, s.sequence, s.digest, d.token, a.disabled_since
        FROM devices d JOIN accounts a ON a.id = d.account JOIN memberships m ON m.account = d.account
            JOIN scopes s ON s.id = m.scope
        WHERE d.token = ANY ($1)
        """
}

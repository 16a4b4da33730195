import HesperStore
import NIOConcurrencyHelpers

/// Looks up sessions by token. Every request starts with such a lookup. Lookups that arrive while a query is running are answered
/// together by the next query, which costs little more than a single lookup. If a connection hangs, its lookups are soon retried on
/// another connection.
final class SessionLookups: Sendable {
    private let pool: PostgresPool
    private let log: (@Sendable (String) -> Void)?
    private let state = NIOLockedValueBox(State())

    private struct Lookup: Sendable {
        let token: TokenHash
        let done: CheckedContinuation<Session?, any Error>
        /// Whether a connection was lost during an earlier attempt of this lookup.
        var wasLost = false
    }

    /// The connection was lost. The lookups are retried on another connection.
    private struct ConnectionLost: Error {}

    private struct State {
        var waiting: [Lookup] = []
        var isBusy = false
    }

    /// The maximum number of tokens that one query looks up.
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

    /// Resolves all waiting lookups, and those that arrive meanwhile, on one connection. If the connection is lost, continues on
    /// another connection.
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

    /// Removes and returns the next waiting lookups. If there are none, returns nil and records that no queries are running.
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

    /// Looks up sessions and resumes the callers with the results or errors.
    /// - Throws: an error after which the connection is unusable.
    private func resolve(_ lookups: [Lookup], on connection: Connection) throws {
        // The first attempt has a short timeout, to detect a lost connection early. A retry has the normal timeout, because the
        // first attempt may have failed only because the server is slow.
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
            // One damaged row must not make the other lookups fail, so look up each token with a separate query.
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
            sessions[TokenHash(bytes: Array(row.bytes(15)))] = Session(
                device: try row.device(),
                head: ScopeHead(scope: row.scope(12), sequence: row.integer(13), digest: try row.digest(14)),
                isDisabled: !row.isNull(16))
            return true
        }
        return sessions
    }

    /// Reads the sessions of tokens. It is a single statement, so that all columns are read from one snapshot.
    private static let sql = """
        SELECT d.node, d.account, d.name, d.app_version, d.user_agent, d.creation_date, d.last_use_date, d.read_date,
            d.last_use_address, d.token_scopes, d.token_expiry_date, d.token_tag, s.id, s.sequence, s.digest, d.token, a.disabled_since
        FROM devices d JOIN accounts a ON a.id = d.account JOIN memberships m ON m.account = d.account
            JOIN scopes s ON s.id = m.scope
        WHERE d.token = ANY ($1)
        """
}

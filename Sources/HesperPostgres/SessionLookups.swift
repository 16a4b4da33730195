import HesperStore
import NIOConcurrencyHelpers

/// Finds who holds a token. Every request begins with that, so those that arrive while one question is under way share the
/// next: many cost hardly more than one. A connection that hangs holds them up for a moment only.
final class SessionLookups: Sendable {
    private let pool: PostgresPool
    private let log: (@Sendable (String) -> Void)?
    private let state = NIOLockedValueBox(State())

    private struct Lookup: Sendable {
        let token: TokenHash
        let done: CheckedContinuation<Session?, any Error>
        /// Whether a connection was lost on which it was asked for.
        var wasLost = false
    }

    /// The connection is lost, and those who wait may hope for another.
    private struct Lost: Error {}

    private struct State {
        var waiting: [Lookup] = []
        var isBusy = false
    }

    /// Tokens that share a question at most.
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

    /// Answers all that wait, and those that come meanwhile, on one connection; on another when that one is lost.
    private func run() async {
        while true {
            do {
                return try await pool.run { connection in
                    connection.log = self.log
                    while let lookups = self.next() { try self.answer(lookups, on: connection) }
                }
            } catch is Lost {
                continue
            } catch {
                // There was no connection, or it is no good: those who wait for the same are told the same.
                let waiting = state.withLockedValue { state in
                    defer { state = State() }
                    return state.waiting
                }
                for lookup in waiting { lookup.done.resume(throwing: error) }
                return
            }
        }
    }

    /// Those that wait; nil, and nobody is at work any more, if there are none.
    private func next() -> [Lookup]? {
        state.withLockedValue { state in
            let next = Array(state.waiting.prefix(SessionLookups.limit))
            state.waiting.removeFirst(next.count)
            state.isBusy = !next.isEmpty
            return next.isEmpty ? nil : next
        }
    }

    /// Lets some wait again, before all others.
    private func putBack(_ lookups: some Collection<Lookup>) {
        state.withLockedValue { $0.waiting.insert(contentsOf: lookups, at: 0) }
    }

    /// - Throws: what leaves nothing to be hoped for from the connection.
    private func answer(_ lookups: [Lookup], on connection: Connection) throws {
        // The second time it may take as long as anything else: the server is slow, not the connection.
        let isLast = lookups.contains { $0.wasLost }
        func ask() throws -> [TokenHash: Session] {
            try SessionLookups.sessions(of: lookups.map(\.token), on: connection)
        }
        let found = Result { try namingErrors { try isLast ? ask() : connection.soon(ask) } }
        if connection.brokenBy != nil, !isLast {
            putBack(lookups.map { Lookup(token: $0.token, done: $0.done, wasLost: true) })
            throw Lost()
        }
        if case .failure(let error) = found, lookups.count > 1, (error as? StoreError)?.isUnavailable != true {
            // A damaged row is nobody's trouble but its own.
            for (index, lookup) in lookups.enumerated() {
                do { try answer([lookup], on: connection) } catch {
                    putBack(lookups[(index + 1)...])
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

    /// One statement is one snapshot.
    private static let sql = """
        SELECT d.node, d.account, d.name, d.app_version, d.user_agent, d.creation_date, d.last_use_date, d.read_date,
            d.last_use_address, s.id, s.sequence, s.digest, d.token, a.disabled_since
        FROM devices d JOIN accounts a ON a.id = d.account JOIN memberships m ON m.account = d.account
            JOIN scopes s ON s.id = m.scope
        WHERE d.token = ANY ($1)
        """
}

import HesperModel
import HesperStore
import NIOConcurrencyHelpers

/// The database to read from is not a copy of the other: it has another installation, or that of before a restore.
public struct ReplicaForeign: Error, Sendable {}

/// A standby, or whatever else follows the database; connections of its own, on which nothing can be written.
///
/// Equal sequence and equal digest mean equal objects: so an answer is the store's own, also if the replica has seen
/// commits that a failover has taken back (storage.md, PostgreSQL).
final class PostgresReplica: Replica {
    private let pool: PostgresPool
    private let installation: Installation
    private let log: (@Sendable (String) -> Void)?
    /// Why it is not asked; nil while it is.
    private let reason = NIOLockedValueBox<String?>(nil)
    /// Rung when there is a reason.
    private let bell: AsyncStream<Void>
    private let ringer: AsyncStream<Void>.Continuation

    /// Between two looks whether it is back, which are further and further apart.
    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(30)
    /// How long one wait for it may take: the primary has the answer, too.
    private static let patience = Duration.seconds(5)
    private static let patienceForConnections = Duration.seconds(2)

    init(_ settings: PostgresSettings, of installation: Installation, log: (@Sendable (String) -> Void)? = nil) {
        var settings = settings
        settings.applicationName = "hesper-read"
        settings.isReadOnly = true
        settings.connectTimeout = 2
        settings.statementTimeout = PostgresReplica.patience
        settings.patience = PostgresReplica.patienceForConnections
        pool = PostgresPool(settings)
        self.installation = installation
        self.log = log
        (bell, ringer) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Looks whether it may be asked. One that is away is looked for again by ``follow(_:)``.
    /// - Throws: ``ReplicaForeign``.
    func begin() async throws {
        do { try await check() } catch let error as StoreError { leave(error) }
    }

    func close() async {
        ringer.finish()
        await pool.close()
    }

    // MARK: Reading

    func read<T: Sendable>(
        at head: ScopeHead, indexed isIndexed: Bool, _ body: @escaping @Sendable (any Snapshot) throws -> T
    ) async throws -> T? {
        guard reason.withLockedValue({ $0 == nil }) else { return nil }
        do {
            return try await inSnapshot { snapshot in
                do {
                    guard try self.stands(at: head, indexed: isIndexed, snapshot) else { return nil }
                    return try body(snapshot)
                } catch let error as PostgresError where error.isRolledBack {
                    // What the standby replayed was in the way, or the other way round.
                    return nil
                }
            }
        } catch let error as StoreError {
            leave(error)
            return nil
        }
    }

    private func inSnapshot<T: Sendable>(_ body: @escaping @Sendable (PostgresSnapshot) throws -> T) async throws -> T {
        try await pool.run { [log] connection in
            connection.log = log
            connection.enqueue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            let result = try body(PostgresSnapshot(connection))
            connection.enqueue(connection.hasFailed ? "ROLLBACK" : "COMMIT")
            return result
        }
    }

    private func stands(at head: ScopeHead, indexed isIndexed: Bool, _ snapshot: PostgresSnapshot) throws -> Bool {
        let found = try snapshot.connection.first(PostgresReplica.standing, [.scope(head.scope)]) { row in
            (
                head: ScopeHead(scope: head.scope, sequence: row.integer(0), digest: try row.digest(1)),
                epoch: UInt64(bitPattern: row.integer(2)), indexed: row.integerIfAny(3) ?? 0
            )
        }
        guard let found else { return false }
        guard found.epoch == installation.epoch else { throw PostgresReplica.foreign }
        return found.head == head && (!isIndexed || found.indexed >= head.sequence)
    }

    static let standing = """
        SELECT s.sequence, s.digest, i.epoch, (SELECT indexed_sequence FROM indexing WHERE scope = $1)
        FROM scopes s JOIN installation i ON i.one WHERE s.id = $1
        """

    // MARK: Coming and going

    private static let foreign = StoreError.unavailable("it is a copy of another installation")

    private func leave(_ error: StoreError) {
        let text =
            switch error {
            case .unavailable(let text): text
            default: "\(error)"
            }
        let isNew = reason.withLockedValue { reason in
            defer { reason = text }
            return reason == nil
        }
        if isNew { ringer.yield() }
    }

    /// - Throws: ``StoreError`` if it can not be asked, ``ReplicaForeign`` if it never can.
    private func check() async throws {
        let found = try await inSnapshot { snapshot in
            let version = try Migrations.found(on: snapshot.connection)
            // On a copy that is behind, the tables may be those of yesterday.
            guard version == Migrations.version else {
                throw StoreError.unavailable("its tables have version \(version), not \(Migrations.version)")
            }
            return try snapshot.installation()
        }
        guard found == installation else { throw ReplicaForeign() }
    }

    func follow(_ tell: @Sendable (ReplicaNews) -> Void) async {
        if reason.withLockedValue({ $0 == nil }) { tell(.found) }
        var (pause, foundDate) = (PostgresReplica.firstPause, ContinuousClock.now)
        for await _ in bell {
            // One that comes and goes is looked for less and less often.
            if .now - foundDate > PostgresReplica.longestPause { pause = PostgresReplica.firstPause }
            guard await waitForReturn(&pause, tell) else { return }
            reason.withLockedValue { $0 = nil }
            foundDate = .now
            tell(.found)
        }
    }

    /// - Returns: whether it is back; else the task was cancelled.
    private func waitForReturn(_ pause: inout Duration, _ tell: (ReplicaNews) -> Void) async -> Bool {
        var told: String?
        while !Task.isCancelled {
            let reason = reason.withLockedValue { $0 }
            if let reason, reason != told { tell(.lost(reason)) }
            told = reason
            // Servers that lost it together should not come back together.
            guard (try? await Task.sleep(for: pause * Double.random(in: 0.5...1))) != nil else { return false }
            pause = min(pause * 2, PostgresReplica.longestPause)
            do {
                try await check()
                return true
            } catch {
                leave(error as? StoreError ?? PostgresReplica.foreign)
            }
        }
        return false
    }
}

extension PostgresError {
    /// The transaction was given up for another's sake, or for what a standby replays.
    fileprivate var isRolledBack: Bool { sqlState.hasPrefix("40") }
}

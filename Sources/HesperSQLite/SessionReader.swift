import GRDB
import HesperModel
import HesperStore
import Synchronization

/// Looks up sessions by token on the caller's thread.
///
/// Every request starts with such a lookup. A lookup takes less time than switching to a thread of the reader pool. Therefore this
/// type does not use the pool. It has a few connections of its own, and uses them in turn. Each lookup is one statement and reads
/// a new snapshot, so changes that other processes commit are visible immediately.
final class SessionReader: Sendable {
    private static let connections = 4

    private let queues: [DatabaseQueue]
    private let next = Atomic<Int>(0)

    init(path: String, configuration: Configuration) throws {
        var configuration = configuration
        configuration.readonly = true
        configuration.label = "hesper.session"
        queues = try (0..<SessionReader.connections).map { _ in
            try DatabaseQueue(path: path, configuration: configuration)
        }
    }

    func session(of token: TokenHash) throws -> Session? {
        let turn = next.wrappingAdd(1, ordering: .relaxed).oldValue
        return try queues[turn & (SessionReader.connections - 1)].unsafeRead { database in
            try mappingErrors { try SessionReader.read(token, from: database) }
        }
    }

    static let sql = """
        SELECT d.node, d.account, d.name, d.app_version, d.user_agent, d.creation_date, d.last_use_date,
            d.read_date, d.last_use_address, d.token_scopes, d.token_expiry_date, d.token_tag, s.id, s.sequence, s.digest, a.disabled_since
        FROM devices d JOIN accounts a ON a.id = d.account JOIN memberships m ON m.account = d.account
            JOIN scopes s ON s.id = m.scope
        WHERE d.token = ?
        """

    private static func read(_ token: TokenHash, from database: Database) throws -> Session? {
        let row = try PreparedStatement(sql, on: database)
        row.bind(token)
        return try row.first {
            Session(
                device: try row.device(),
                head: ScopeHead(
                    scope: ScopeID(row.integer(12)), sequence: row.integer(13), digest: try row.digest(14)),
                isDisabled: !row.isNull(15))
        }
    }

    func close() throws { for queue in queues { try queue.close() } }
}

import GRDB
import Synchronization

/// Whether the writer's commits wait for the disk (`synchronous = FULL`). Those of what is derived do not: they are in the
/// log, in its order, and durable with the next commit that waits.
final class CommitWaits: Sendable {
    private let isSuspended = Atomic(false)

    /// Does `body`, whose commits do not wait.
    func suspend<T>(on database: Database, _ body: () throws -> T) throws -> T {
        isSuspended.store(true, ordering: .relaxed)
        try database.execute(sql: "PRAGMA synchronous = NORMAL")
        let result = Result { try body() }
        try ensure(on: database)
        return try result.get()
    }

    /// Before every commit that must wait: had it once failed to be set back, no such commit is begun until it is.
    func ensure(on database: Database) throws {
        guard isSuspended.load(ordering: .relaxed) else { return }
        try database.execute(sql: "PRAGMA synchronous = FULL")
        isSuspended.store(false, ordering: .relaxed)
    }
}

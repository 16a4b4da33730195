import GRDB
import Synchronization

/// Controls whether the writer's commits wait for the disk (`synchronous = FULL`). Commits of derived data do not wait. They become
/// durable with the next commit that waits, because the write-ahead log contains all commits in order.
final class CommitDurability: Sendable {
    private let isSuspended = Atomic(false)

    /// Runs `body` with commits that do not wait for the disk.
    func suspend<T>(on database: Database, _ body: () throws -> T) throws -> T {
        isSuspended.store(true, ordering: .relaxed)
        try database.execute(sql: "PRAGMA synchronous = NORMAL")
        let result = Result { try body() }
        try ensure(on: database)
        return try result.get()
    }

    /// Makes commits wait for the disk again. It is called before every transaction whose commit must be durable, in case
    /// ``suspend(on:_:)`` failed to do so.
    func ensure(on database: Database) throws {
        guard isSuspended.load(ordering: .relaxed) else { return }
        try database.execute(sql: "PRAGMA synchronous = FULL")
        isSuspended.store(false, ordering: .relaxed)
    }
}

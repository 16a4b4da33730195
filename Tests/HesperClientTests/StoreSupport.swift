import Foundation
import HesperClient
import HesperModel

/// A store in a temporary file, with a wall clock that tests set.
final class TemporaryStore: Sendable {
    let folder: URL
    let clock = Locked(Timestamp(clamping: 1_790_000_000_000))

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "store-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var file: URL { folder.appending(path: "store.sqlite") }

    /// Opens the file. Several stores on one file are like several processes.
    func open(_ types: [any SyncedObject.Type] = [Recipe.self]) async throws -> LocalStore {
        let database = try LocalDatabase(path: file.path, now: { [self] in clock.withLock { $0 } })
        return try await LocalStore(database, FolderAttachmentFiles(folder: file.path + "-files"), types)
    }

    func wait(milliseconds: Int64) {
        clock.withLock { $0 = Timestamp(clamping: $0.milliseconds + milliseconds) }
    }
}

/// Folds a register into a note or an object, as sync does with what another device changed.
func receive<Object: SyncedObject>(
    _ attribute: String, _ value: Value, at clock: Clock, in id: ObjectID<Object>, _ store: LocalStore
) throws {
    try store.database.write { records in
        var record =
            try records.object(id.uniqueID, type: Object.objectType)
            ?? LocalObject(id: id.uniqueID, type: Object.objectType)
        record.fold(fixed: [:], registers: [attribute: Cell(value, at: clock)])
        try records.save(record)
    }
}

/// A clock of another device, after all clocks that a store with the clock of ``TemporaryStore`` makes.
func laterClock(_ counter: UInt16 = 0) -> Clock {
    Clock(milliseconds: 1_790_000_100_000, counter: counter, node: NodeID(7)) ?? .zero
}

extension LocalStore {
    /// Syncs with a deadline that a busy machine does not reach, instead of the default of 30 seconds.
    @discardableResult
    func syncNow() async -> SyncStatus { await syncNow(deadline: .seconds(600)) }
}

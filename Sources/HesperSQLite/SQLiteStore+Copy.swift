import GRDB

extension SQLiteStore {
    /// Writes a snapshot of the database to a file. Other processes and other stores may write meanwhile.
    ///
    /// `VACUUM INTO` reads one snapshot, so later commits do not delay it, and the new file has no free pages with erased
    /// contents (SQLite, VACUUM). The caller has to sync the file. This store cannot write during the copy, so a server copies
    /// with a second store and continues to write with its own.
    /// - Parameter path: the path of the new file, which must not exist or must be empty.
    /// - Throws: ``StoreError``, also if the task is cancelled.
    public func copy(to path: String) async throws {
        try await withTaskCancellationHandler {
            try await onWriter { try $0.execute(sql: "VACUUM INTO ?", arguments: [path]) }
        } onCancel: {
            interrupt()
        }
    }
}

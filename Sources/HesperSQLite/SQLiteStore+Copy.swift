import GRDB

extension SQLiteStore {
    /// Writes a snapshot of the database to a file, while others may write.
    ///
    /// `VACUUM INTO` reads one snapshot, so it ends however much is written meanwhile, and its result has no free pages with
    /// erased contents (SQLite, VACUUM). The caller has to sync the file. The writer of this store is busy during the copy: a
    /// server that continues to write opens another store for it.
    /// - Parameter path: an empty file, or one that does not exist.
    /// - Throws: ``StoreError``, also if the task is cancelled.
    public func copy(to path: String) async throws {
        try await withTaskCancellationHandler {
            try await onWriter { try $0.execute(sql: "VACUUM INTO ?", arguments: [path]) }
        } onCancel: {
            interrupt()
        }
    }
}

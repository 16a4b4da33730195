import GRDB

extension SQLiteStore {
    /// Writes a snapshot of the database to a file. Other processes and other stores may write meanwhile.
    ///
    /// `VACUUM INTO` reads one snapshot, so later commits do not delay it. The new file has no free pages, so it contains no
    /// deleted rows (SQLite, VACUUM). The caller has to sync the file. This store cannot write during the copy. Therefore a server
    /// opens a second store for the copy, and continues to write with its first store.
    /// - Parameter path: the path of the new file. If a file already exists there, it must be empty.
    /// - Throws: ``StoreError``, also if the task is cancelled.
    public func copy(to path: String) async throws {
        try await withTaskCancellationHandler {
            try await onWriter { try $0.execute(sql: "VACUUM INTO ?", arguments: [path]) }
        } onCancel: {
            interrupt()
        }
    }
}

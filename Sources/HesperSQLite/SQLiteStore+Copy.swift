import GRDB

extension SQLiteStore {
    /// Writes what the database holds at one moment to a file, whole by itself; others may write meanwhile.
    ///
    /// `VACUUM INTO` reads one snapshot, so it comes to its end however much is written, and leaves out the pages that hold
    /// what was erased (SQLite, VACUUM). The file is durable when it is synced, which is the caller's to do.
    /// It occupies this store's own writer: a server that goes on writing opens another store for it.
    /// - Parameter path: of a file that is empty, or not there yet.
    /// - Throws: ``StoreError``, also if the task is cancelled.
    public func copy(to path: String) async throws {
        try await withTaskCancellationHandler {
            try await onWriter { try $0.execute(sql: "VACUUM INTO ?", arguments: [path]) }
        } onCancel: {
            interrupt()
        }
    }
}

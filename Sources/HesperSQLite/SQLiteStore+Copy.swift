import GRDB

extension SQLiteStore {
    /// Writes what the database holds at one moment to a file, whole by itself; others may write meanwhile.
    ///
    /// `VACUUM INTO` reads one snapshot, so it comes to its end however much is written, and leaves out the pages that hold
    /// what was erased (SQLite, VACUUM). The file is durable when it is synced, which is the caller's to do.
    /// - Parameter path: of a file that is empty, or not there yet.
    /// - Throws: ``StoreError``.
    public func copy(to path: String) async throws {
        try await onWriter { try $0.execute(sql: "VACUUM INTO ?", arguments: [path]) }
    }
}

public import Foundation
public import HesperClient
internal import HesperModel

extension MemoryServer {
    /// Opens a store that always connects to this server. The address that is passed when the user signs in is ignored.
    ///
    ///     let server = MemoryServer()
    ///     let phone = try await server.openStore(Recipe.self)
    ///     try await phone.signUp(to: "https://notes.example.org", email: "ada@example.org", password: "correct horse")
    ///
    /// The store uses the clock of the server. If this clock is a ``VirtualClock``, timers do not expire by themselves:
    /// advance the clock, and call `syncNow`.
    /// - Parameters:
    ///   - url: the database file; nil for a store in memory.
    ///   - types: the types that the app declares.
    public func openStore(at url: URL? = nil, _ types: any SyncedObject.Type...) async throws -> LocalStore {
        let database = try LocalDatabase(
            path: url?.path,
            now: { [now] in Timestamp(clamping: Int64((now().timeIntervalSince1970 * 1_000).rounded())) })
        let files: any AttachmentFiles =
            try url.map { try FolderAttachmentFiles(folder: $0.path + "-files") } ?? MemoryAttachmentFiles()
        return try await LocalStore(database, files, types) { _ in self }
    }
}

import Foundation
import HesperBlobs
import HesperPostgres
import HesperSQLite
import HesperStore

/// The location of a database: a folder on this machine, or a PostgreSQL server.
///
///     try DatabaseLocation("postgresql://hesper@db.example.org/hesper", data: "data")
enum DatabaseLocation: Equatable {
    case sqlite(folder: String)
    /// A libpq connection URI. It may contain a password, so it must not be logged or printed.
    case postgres(String)

    /// The error for a text that is not a valid location of a database.
    struct Invalid: Error { let reason: String }

    private static let file = "sqlite:"
    static let servers = ["postgresql://", "postgres://"]

    /// Parses the location of a database.
    /// - Parameters:
    ///   - text: `sqlite:`, `sqlite:FOLDER`, or `postgresql://…`.
    ///   - data: the folder to use if the text names no folder.
    /// - Throws: ``Invalid``. The reason does not contain the text, because the text may contain a password.
    init(_ text: String, data: String) throws {
        if text.hasPrefix(DatabaseLocation.file) {
            let folder = String(text.dropFirst(DatabaseLocation.file.count))
            self = .sqlite(folder: folder.isEmpty ? data : folder)
            return
        }
        guard let scheme = DatabaseLocation.servers.first(where: text.hasPrefix) else {
            throw Invalid(reason: "must have the form sqlite: or postgresql://user@host/database.")
        }
        // In a user name or password, an unencoded @ or / would be parsed as part of the host or the database name, and would
        // appear in error messages.
        let address = text.dropFirst(scheme.count).prefix { $0 != "?" }
        if let end = address.lastIndex(of: "@"), address[..<end].contains(where: { "@/".contains($0) }) {
            throw Invalid(reason: "@ and / in a user name or password must be written as %40 and %2F.")
        }
        if let reason = PostgresStore.syntaxError(in: text) { throw Invalid(reason: reason + ".") }
        self = .postgres(text)
    }

    /// Opens the database, calls `body`, and closes the database again.
    func whileOpen<T>(
        making makes: Bool, connections: Int, _ body: (any Store) async throws -> T
    ) async throws -> T {
        let store = try await open(making: makes, connections: connections)
        do {
            let result = try await body(store)
            try? await store.close()
            return result
        } catch {
            try? await store.close()
            throw error
        }
    }

    /// Opens the database.
    /// - Parameter makes: whether to create the database if it does not exist.
    /// - Throws: ``Failure`` if the database does not exist or its server cannot be reached.
    func open(making makes: Bool, connections: Int) async throws -> any Store {
        switch self {
        case .sqlite(let folder):
            try DatabaseLocation.checkRestored(folder)
            if !makes {
                try DatabaseLocation.checkFile(in: folder, toName: "set the data folder with --data or HESPER_DATA")
            }
            return try SQLiteStore(folder: URL(filePath: folder))
        case .postgres(let string):
            do {
                return try await PostgresStore(string, connections: connections, createIfEmpty: makes)
            } catch StoreError.unavailable(let text) {
                throw Failure("Cannot connect to the database set with HESPER_DATABASE or --database: \(text)")
            } catch is DatabaseEmpty {
                throw Failure(
                    "The database contains no Hesper data. Set HESPER_DATABASE or --database to the database of the server "
                        + "(hesper serve).", .settings)
            }
        }
    }

    /// Checks that the database in a folder is not partly restored.
    /// - Throws: ``Failure`` if a restore into the folder was begun and not completed.
    static func checkRestored(_ folder: String) throws {
        guard RestoredFolder.isUnfinished(folder, database: SQLiteStore.fileName) else { return }
        throw Failure("\(folder) is only partly restored. Run hesper restore again with the same backup.")
    }

    /// Checks that a folder contains a database.
    /// - Parameter hint: the words in the error message that state how to select another folder.
    /// - Throws: ``Failure`` if the folder contains no database.
    static func checkFile(in folder: String, toName hint: String) throws {
        let folder = URL(filePath: folder)
        guard !FileManager.default.fileExists(atPath: folder.appending(path: SQLiteStore.fileName).path) else { return }
        throw Failure("\(folder.relativePath) contains no \(SQLiteStore.fileName): \(hint).", .settings)
    }
}

import Foundation
import HesperBlobs
import HesperPostgres
import HesperSQLite
import HesperStore

/// Where a database is: in a folder of this machine, or on a server.
///
///     try DatabaseLocation("postgresql://hesper@db.example.org/hesper", data: "data")
enum DatabaseLocation: Equatable {
    case sqlite(folder: String)
    /// A connection string of libpq, as a URI. It may hold a password: never shown to anybody.
    case postgres(String)

    /// Why a text names no database.
    struct Wrong: Error { let why: String }

    private static let file = "sqlite:"
    static let servers = ["postgresql://", "postgres://"]

    /// - Parameters:
    ///   - text: `sqlite:`, `sqlite:FOLDER`, or `postgresql://…`.
    ///   - data: the folder that is meant where none is named.
    /// - Throws: ``Wrong``, which tells nothing of the text but its kind.
    init(_ text: String, data: String) throws {
        if text.hasPrefix(DatabaseLocation.file) {
            let folder = String(text.dropFirst(DatabaseLocation.file.count))
            self = .sqlite(folder: folder.isEmpty ? data : folder)
            return
        }
        guard let scheme = DatabaseLocation.servers.first(where: text.hasPrefix) else {
            throw Wrong(why: "sqlite: or postgresql://user@host/database is wanted.")
        }
        // What is not encoded would be taken for a host or a database, and told in errors.
        let address = text.dropFirst(scheme.count).prefix { $0 != "?" }
        if let end = address.lastIndex(of: "@"), address[..<end].contains(where: { "@/".contains($0) }) {
            throw Wrong(why: "the @ and / of a user's name and password are written %40 and %2F in a URL.")
        }
        if let why = PostgresStore.syntaxError(in: text) { throw Wrong(why: why + ".") }
        self = .postgres(text)
    }

    /// Opens it while `body` runs.
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

    /// - Parameter makes: whether to make what is missing.
    /// - Throws: ``Failure`` if there is no database, or its server cannot be reached.
    func open(making makes: Bool, connections: Int) async throws -> any Store {
        switch self {
        case .sqlite(let folder):
            try DatabaseLocation.checkRestored(folder)
            if !makes {
                try DatabaseLocation.checkFile(in: folder, toName: "name the data folder with --data or HESPER_DATA")
            }
            return try SQLiteStore(folder: URL(filePath: folder))
        case .postgres(let string):
            do {
                return try await PostgresStore(string, connections: connections, createIfEmpty: makes)
            } catch StoreError.unavailable(let text) {
                throw Failure("The database is not to be had (HESPER_DATABASE or --database names it): \(text)")
            } catch is DatabaseEmpty {
                throw Failure(
                    "The database has nothing of Hesper's: name the one that hesper serve uses with HESPER_DATABASE or "
                        + "--database.", .settings)
            }
        }
    }

    /// - Throws: ``Failure`` if a restore into the folder has not come to its end: nobody may take it for empty.
    static func checkRestored(_ folder: String) throws {
        guard RestoredFolder.isUnfinished(folder, database: SQLiteStore.fileName) else { return }
        throw Failure("\(folder) is only partly restored: do hesper restore again, from the same backup.")
    }

    /// - Parameter hint: how to name another folder.
    /// - Throws: ``Failure`` if the folder has no database.
    static func checkFile(in folder: String, toName hint: String) throws {
        let folder = URL(filePath: folder)
        guard !FileManager.default.fileExists(atPath: folder.appending(path: SQLiteStore.fileName).path) else { return }
        throw Failure("\(folder.relativePath) has no \(SQLiteStore.fileName): \(hint).", .settings)
    }
}

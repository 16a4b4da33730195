public import Foundation
internal import GRDB
internal import HesperModel

extension LocalStore {
    /// Writes the unsent changes of a store to a file of JSON lines. The database file of the store may be damaged, or written by a
    /// later version of the library.
    ///
    /// Use it when opening a store throws ``StoreError/damaged(_:)``, before the database file is deleted. Each line is an object
    /// or a deletion:
    ///
    ///     {"type": "recipe", "id": "…", "values": {"attributes.title": "Leek soup"}}
    ///     {"type": "recipe", "id": "…", "deleted": true}
    ///
    /// - Parameters:
    ///   - store: the database file of the store.
    ///   - file: the file to write. It is replaced if it exists.
    /// - Returns: the number of objects and deletions that were written. Rows that cannot be read are left out.
    @discardableResult
    public static func saveUnsent(in store: URL, to file: URL) throws -> Int {
        var lines: [JSON] = []
        var configuration = Configuration()
        configuration.readonly = true
        // A connection that is being closed locks the file for a short time.
        configuration.busyMode = .timeout(10)
        // With `writable_schema`, SQLite also reads a truncated database file. The setting also makes the schema writable, which is
        // safe because the connection is read-only.
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA writable_schema = ON") }
        let database = try reporting { try DatabaseQueue(path: store.path, configuration: configuration) }
        try reporting {
            try database.unsafeRead { database in
                let names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'object.%' ORDER BY name"
                for name in try String.fetchAll(database, sql: names) {
                    let type = String(name.dropFirst("object.".count))
                    lines += UnsentRows.objects(of: type, database)
                }
                lines += UnsentRows.deletions(database)
            }
        }
        let text = lines.map { $0.text + "\n" }.joined()
        do {
            try Data(text.utf8).write(to: file, options: .atomic)
        } catch CocoaError.fileWriteOutOfSpace {
            throw StoreError.diskFull
        }
        return lines.count
    }
}

/// Reads rows of a database file that may be damaged.
private enum UnsentRows {
    static func objects(of type: String, _ database: Database) -> [JSON] {
        rows(of: LocalDatabase.table(type), "id, body, clocks, pending", database) { row in
            guard let id = UniqueID(bytes: row[1] as Data),
                let object = try? LocalObject(id: id, type: type, row: row, from: 2), object.isPending
            else { return nil }
            let values = (object.made?.fixed ?? [:]).merging(object.edits.mapValues(\.value)) { $1 }
            let members = values.sorted { $0.key < $1.key }.map { ($0.key, $0.value.json) }
            return JSON(members: [
                ("type", .string(type)), ("id", .string(id.description)), ("values", .object(JSONObject(members))),
            ])
        }
    }

    static func deletions(_ database: Database) -> [JSON] {
        rows(of: "deletions", "id, type", database) { row in
            guard let id = UniqueID(bytes: row[1] as Data) else { return nil }
            return JSON(members: [("type", .string(row[2])), ("id", .string(id.description)), ("deleted", true)])
        }
    }

    /// Reads a table from its beginning. If a page cannot be read, also reads the table backwards from its end, until a page cannot
    /// be read. No index is used, because it may be damaged too.
    private static func rows(
        of table: String, _ columns: String, _ database: Database, _ line: (Row) -> JSON?
    ) -> [JSON] {
        var found: [Int64: JSON] = [:]
        for order in ["ASC", "DESC"] {
            do {
                let sql = "SELECT rowid, \(columns) FROM \(table) NOT INDEXED ORDER BY rowid \(order)"
                let rows = try Row.fetchCursor(database, sql: sql)
                while let row = try rows.next() { found[row[0]] = line(row) }
                break
            } catch {
                continue
            }
        }
        return found.sorted { $0.key < $1.key }.map(\.value)
    }
}

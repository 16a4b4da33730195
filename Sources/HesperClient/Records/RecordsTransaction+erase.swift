internal import GRDB
internal import HesperModel

extension RecordsTransaction {
    /// Processes notice by this name, as if it were the name of a changed table, that another process has erased the local copy.
    static let erasures = "erasures"

    /// Removes all content, including unsent changes, the session and local values of the app. The local copy gets a new node ID.
    package func eraseAll() throws {
        let virtual = try String.fetchAll(
            database, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%'")
        for type in try types {
            try database.execute(sql: "DELETE FROM \(LocalDatabase.table(type))")
            noteChange(of: "object.\(type)")
        }
        // The search indexes contain the terms of the erased texts, so they are emptied too.
        for name in virtual { try database.execute(sql: "DELETE FROM \"\(name.replacing("\"", with: "\"\""))\"") }
        for table in ["deleted", "deletions", "shelf", "notices", "relays", "bytes", "local", "meta"] {
            try database.execute(sql: "DELETE FROM \(table)")
            noteChange(of: table)
        }
        noteChange(of: RecordsTransaction.erasures)
        forgetState()
    }
}

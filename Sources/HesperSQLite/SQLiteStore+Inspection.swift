import Foundation
import GRDB
import HesperStore

extension SQLiteStore {
    /// Runs SQLite's integrity check, then checks the type of every value and the search index. All checks read the same
    /// snapshot and do not block writers.
    /// - Returns: the damage that was found, as sentences.
    public func fileDamage() async throws -> [String] {
        do {
            // A connection of the pool would not allow temporary tables, so this uses a connection of its own.
            var configuration = Configuration()
            configuration.readonly = true
            configuration.busyMode = .timeout(10)
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            let findings = try await queue.read { database in
                var inspection = FileInspection(database: database)
                try inspection.inspect()
                return inspection.findings
            }
            try queue.close()
            return findings
        } catch let error as DatabaseError {
            throw StoreError(error)
        }
    }
}

/// Checks the database file itself.
private struct FileInspection {
    let database: Database
    private(set) var findings: [String] = []

    init(database: Database) { self.database = database }

    /// The maximum number of findings of SQLite's integrity check, because one damaged page can cause many findings.
    private static let findingLimit = 20

    /// Runs all checks and adds the damage that they find to `findings`.
    /// - Throws: errors that are not damage.
    mutating func inspect() throws {
        try reporting("The pages") { try $0.inspectPages() }
        try reporting("Some rows") { try $0.inspectTypes() }
        try reporting("The search index") { try $0.inspectTerms() }
    }

    /// Runs one check. If the check fails because of damage, adds a finding that `part` cannot be read.
    private mutating func reporting(_ part: String, _ inspect: (inout FileInspection) throws -> Void) throws {
        do {
            try mappingErrors { try inspect(&self) }
        } catch StoreError.damaged(let reason) {
            findings.append("\(part) cannot be read: \(reason)")
        }
    }

    mutating func inspectPages() throws {
        for line in try String.fetchAll(database, sql: "PRAGMA integrity_check(\(FileInspection.findingLimit))")
        where line != "ok" {
            findings.append("SQLite: \(line)")
        }
    }

    /// Checks that the type of each value is the type of its column. SQLite accepts a value of any type in any column, but a
    /// value of the wrong type may compare as equal in one statement and as different in another.
    mutating func inspectTypes() throws {
        let tables = try String.fetchAll(
            database,
            sql: """
                SELECT name FROM sqlite_schema
                WHERE type = 'table' AND sql LIKE 'CREATE TABLE%' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                    AND name NOT LIKE 'terms\\_%' ESCAPE '\\'
                """)
        for table in tables {
            let columns = try Row.fetchAll(
                database, sql: "SELECT name, lower(type) AS type FROM pragma_table_info(?)", arguments: [table])
            let tests = columns.map { column in
                "sum(typeof(\(column["name"] as String)) NOT IN ('null', '\(column["type"] as String)'))"
            }
            guard let counts = try Row.fetchOne(database, sql: "SELECT \(tests.joined(separator: ", ")) FROM \(table)")
            else { continue }
            for (index, column) in columns.enumerated() {
                guard let count = counts[index] as Int64?, count > 0 else { continue }
                findings.append(
                    "Values in \(table).\(column["name"] as String) whose type is not that of the column: \(count).")
            }
        }
    }

    /// Compares the search index with the terms of the stored texts. Two things are compared: the number of terms of each note, and
    /// the positions of all terms. The number of terms is compared because ranking uses it. The positions are compared as sums of
    /// hashes, so memory use does not grow with the index. The positions are read by looking up each term in the index, as a search
    /// does.
    mutating func inspectTerms() throws {
        try database.execute(
            sql: """
                CREATE VIRTUAL TABLE temp.indexed_terms USING fts5vocab(main, terms, row);
                CREATE VIRTUAL TABLE temp.indexed_places USING fts5vocab(main, terms, instance);
                """)
        let texts = try PreparedStatement(
            "SELECT t.rowid, t.text, s.sz FROM terms t LEFT JOIN terms_docsize s ON s.id = t.rowid", on: database)
        var expected: UInt64 = 0
        var counts = true
        try texts.eachRow {
            let (document, text) = (texts.integer(0), texts.bytes(1))
            var count = 0
            for term in text.split(separator: UInt8(ascii: " ")) {
                expected &+= FileInspection.hash(UnsafeRawBufferPointer(rebasing: term), document, count)
                count += 1
            }
            if FileInspection.number(texts.bytes(2)) != count { counts = false }
        }
        let terms = try PreparedStatement("SELECT term FROM temp.indexed_terms", on: database)
        let places = try PreparedStatement(
            "SELECT doc, \"offset\" FROM temp.indexed_places WHERE term = ?1", on: database)
        var found: UInt64 = 0
        try terms.eachRow {
            let term = Array(terms.bytes(0))
            places.bind(SQLiteText(term))
            try places.eachRow {
                found &+= term.withUnsafeBytes { FileInspection.hash($0, places.integer(0), places.int(1)) }
            }
        }
        if found != expected || !counts {
            findings.append(
                "The search index does not match the terms of the notes. Stop the server, and rebuild the index with the "
                    + "statement in docs/storage.md, \"What a check verifies\".")
        }
    }

    /// Decodes a number in SQLite's variable-length format (SQLite, Database File Format, section 1.6), which has 7 bits in each
    /// byte, most significant first. Nil if the bytes are not such a number.
    private static func number(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard (1...8).contains(bytes.count), let last = bytes.last, last < 0x80,
            bytes.dropLast().allSatisfy({ $0 >= 0x80 })
        else { return nil }
        return bytes.reduce(0) { $0 << 7 | Int($1 & 0x7f) }
    }

    private static func hash(_ term: UnsafeRawBufferPointer, _ document: Int64, _ place: Int) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(bytes: term)
        hasher.combine(document)
        hasher.combine(place)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}

import GRDB
import HesperModel
import Testing

@testable import HesperSQLite

/// The views of objects for operators (development.md, Add a field to notes).
@Suite("Views for operators")
struct ViewTests {
    private let folder = Folder()

    @Test("Views have a column for each field of notes and tags", arguments: [Section.notes, .tags])
    func columns(of section: Section) async throws {
        let store = try SQLiteStore(folder: folder.url)
        try store.close()
        let columns = try await DatabaseQueue(path: folder.database).read { database in
            try String.fetchAll(
                database, sql: "SELECT name FROM pragma_table_info(?)", arguments: [section.name])
        }
        for field in Field.allCases where field.section == section {
            let column = field.rawValue.replacing(#/[A-Z]/#) { "_\($0.0.lowercased())" }
            #expect(columns.contains(column), "Schema.views and a migration: \(field.rawValue)")
        }
    }
}

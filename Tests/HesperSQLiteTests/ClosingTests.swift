import Foundation
import HesperModel
import HesperSQLite
import Testing

/// After a clean shutdown the database file is complete, so that an operator can copy it.
@Suite struct ClosingTests {
    private func names(in folder: URL) throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: folder.path))
    }

    @Test func closingTheLastConnectionRemovesTheLog() async throws {
        let folder = Folder()
        let first = try SQLiteStore(folder: folder.url)
        let second = try SQLiteStore(folder: folder.url)
        for store in [first, second] {
            try await store.write {
                _ = try $0.insertAccount(
                    .random(), email: "\(UInt64.random(in: 0 ... .max))@b.c", passwordHash: "-",
                    creationDate: Timestamp(clamping: 0))
            }
        }
        #expect(try await first.read { try $0.accounts().count } == 2)
        try first.close()
        #expect(try await second.read { try $0.accounts().count } == 2)
        try second.close()
        #expect(try names(in: folder.url) == [SQLiteStore.fileName, "hesper.reserve"])
    }
}

import Foundation
import HesperClient
import HesperClientTesting
import Testing

@testable import HesperMirror

/// Files that are missing, and files that have former texts.
struct MirrorDeletionTests {
    let world = MirrorWorld()

    @Test func aDeletedFileDeletesItsNoteAfterFiveMinutes() async throws {
        let (one, other) = (try await world.machine(), try await world.machine())
        for name in ["Soup", "Bread", "Milk"] { try one.write("\(name).md", name) }
        try await one.sync()
        try await other.sync()
        try one.remove("Soup.md")
        #expect(try await one.sync().waiting == ["Soup.md"])
        world.pass(200)
        #expect(try await one.sync().deleted == 0)
        world.pass(200)
        #expect(try await one.sync().deleted == 1)
        try await other.sync()
        #expect(Set(other.contents.keys) == ["Bread.md", "Milk.md"])
        #expect(other.trash == ["Soup.md": "Soup"])
    }

    @Test func aFileThatReturnsIsNotDeleted() async throws {
        let one = try await world.machine()
        for name in ["Soup", "Bread"] { try one.write("\(name).md", name) }
        try await one.sync()
        try one.remove("Soup.md")
        try await one.sync()
        world.pass(200)
        try one.write("Soup.md", "Soup")
        try await one.sync()
        world.pass(200)
        #expect(try await one.sync().changes == 0)
        try one.remove("Soup.md")
        try await one.sync()
        // Elsewhere: the bytes tell that it is the same file.
        try one.write("Kitchen/Soup.md", "Soup")
        #expect(try await one.sync().moved == 1)
        world.pass(400)
        try await one.sync()
        #expect(try await one.texts() == ["Bread", "Soup"])
    }

    @Test func aDeletionDoesNotTakeWordsThatWereNotSeen() async throws {
        let (one, web) = (try await world.machine(), try await world.device())
        for name in ["Soup", "Bread"] { try one.write("\(name).md", name) }
        try await one.sync()
        await web.syncNow()
        let note = try #require(try await web.all(Note.self, where: { $0.$path == "Soup.md" }).first)
        try await web.update(note.id) { $0.text = "Soup and more" }
        await web.syncNow()
        try one.remove("Soup.md")
        try await one.sync()
        world.pass(400)
        try await one.sync()
        #expect(one.read("Soup.md") == "Soup and more")
    }

    @Test func manyMissingFilesAreAskedFor() async throws {
        let one = try await world.machine()
        for number in 0..<40 { try one.write("\(number).md", "Note \(number)") }
        try await one.sync()
        for number in 0..<12 { try one.remove("\(number).md") }
        try await one.sync()
        world.pass(400)
        let report = try await one.sync()
        guard case .deletions(let missing)? = report.questions.first else {
            Issue.record("Nothing was asked")
            return
        }
        #expect(missing.count == 12)
        #expect(try await one.store.count(Note.self) == 40)
        #expect(try await one.sync(isConfirmed: true).deleted == 12)
        #expect(try await one.store.count(Note.self) == 28)
    }

    @Test func anEmptyFolderDeletesNothing() async throws {
        let one = try await world.machine()
        for number in 0..<3 { try one.write("\(number).md", "Note \(number)") }
        try await one.sync()
        for number in 0..<3 { try one.remove("\(number).md") }
        world.pass(400)
        try await one.sync()
        world.pass(400)
        #expect(try await one.sync().questions.count == 1)
        #expect(try await one.store.count(Note.self) == 3)
        // Not mounted: the marker is missing too.
        try one.remove(".hesper")
        await #expect(throws: MirrorError.self) { try await one.mirror.round() }
        #expect(try await one.store.count(Note.self) == 3)
    }

    @Test func formerTextsOfManyFilesAreAskedFor() async throws {
        let one = try await world.machine()
        for number in 0..<20 { try one.write("\(number).md", "Note \(number)") }
        try await one.sync()
        for number in 0..<20 { try one.write("\(number).md", "Note \(number), longer") }
        try await one.sync()
        for number in 0..<20 { try one.write("\(number).md", "Note \(number)") }
        guard case .reversions(let notes)? = try await one.sync().questions.first else {
            Issue.record("Nothing was asked")
            return
        }
        #expect(notes.count == 20)
        #expect(try await one.texts().allSatisfy { $0.hasSuffix("longer") })
        try await one.sync(isConfirmed: true)
        #expect(try await one.texts().allSatisfy { !$0.hasSuffix("longer") })
    }
}

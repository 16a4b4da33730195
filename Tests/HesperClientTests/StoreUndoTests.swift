import Foundation
import HesperClient
import HesperModel
import Testing

@Suite("Store: undo") struct StoreUndoTests {
    let temporary: TemporaryStore
    let store: LocalStore

    init() async throws {
        temporary = try TemporaryStore()
        store = try await temporary.open()
    }

    private func recipe(_ id: ObjectID<Recipe>) async throws -> Recipe { try #require(try await store.get(id)) }

    @Test func aTransactionIsOneStep() async throws {
        let soup = try await store.insert(Recipe(title: "Soup"))
        try await store.write { tx in
            try tx.update(soup.id) {
                $0.title = "Leek soup"
                $0.cooked += 2
                $0.labels.insert("green")
                $0.due = Date(timeIntervalSince1970: 9)
            }
            try tx.insert(Recipe(title: "Stew"))
        }
        let after = try await recipe(soup.id)
        #expect(try await store.undo())
        #expect(try await recipe(soup.id) == soup)
        #expect(try await store.count(Recipe.self) == 1)
        #expect(try await store.redo())
        #expect(try await recipe(soup.id) == after)
        #expect(try await store.count(Recipe.self) == 2)
        #expect(try await store.redo() == false)
        #expect(try await store.undo())
        #expect(try await store.undo())
        #expect(try await store.count(Recipe.self) == 0)
        #expect(try await store.undo() == false)
    }

    /// An app may call it for each press of a key, without waiting for the call before.
    @Test func callsOfUndoAtTheSameTimeUndoOneStepEach() async throws {
        let soup = try await store.insert(Recipe(title: "Soup"))
        try await store.update(soup.id) { $0.cooked += 5 }
        try await store.update(soup.id) { $0.cooked += 1 }
        try await store.delete(soup.id)
        let isUndone = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<3 { group.addTask { try await store.undo() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(isUndone == [true, true, true])
        #expect(try await store.all(Recipe.self).map(\.cooked.value) == [0])
        #expect(try await store.undo())
        #expect(try await store.undo() == false)
        #expect(try await store.count(Recipe.self) == 0)
    }

    @Test func whatChangedSinceStays() async throws {
        let soup = try await store.insert(Recipe(title: "Soup"))
        try await store.update(soup.id) {
            $0.title = "Leek soup"
            $0.isFavorite = true
            $0.cooked += 1
        }
        try receive("attributes.title", .string("Potage"), at: laterClock(), in: soup.id, store)
        try receive("attributes.cooked.0000000000000007", .integer(5), at: laterClock(), in: soup.id, store)
        #expect(try await store.undo())
        let now = try await recipe(soup.id)
        #expect(now.title == "Potage" && !now.isFavorite && now.cooked.value == 5)
    }

    @Test func undoMakesNewClocks() async throws {
        let soup = try await store.insert(Recipe(title: "Soup"))
        try await store.update(soup.id) { $0.title = "Leek soup" }
        let edited = try store.database.read { try $0.object(soup.id.uniqueID)?.cell("attributes.title") }
        try await store.undo()
        let undone = try store.database.read { try $0.object(soup.id.uniqueID)?.cell("attributes.title") }
        #expect(undone?.value == .string("Soup"))
        #expect(try #require(undone).clock > #require(edited).clock)
    }

    @Test func registersThatWereNotSetBefore() async throws {
        let tag = try await store.insert(HesperClient.Tag(name: "kitchen"))
        let note = try await store.insert(HesperClient.Note(text: "Milk"))
        try await store.update(note.id) {
            $0.tags.insert(tag.id)
            $0.sortDate = Date(timeIntervalSince1970: 9)
            $0.isPinned = true
        }
        #expect(try await store.undo())
        let undone = try #require(try await store.get(note.id))
        #expect(undone.tags.isEmpty && undone.sortDate == note.creationDate && !undone.isPinned)
        // As the server has it.
        let register = try store.database.read { try $0.object(note.id.uniqueID)?.cell("tags.\(tag.id)") }
        #expect(register?.value == .bool(false))
    }

    @Test func textsAreUndoneByAMerge() async throws {
        let note = try await store.insert(HesperClient.Note(text: "one\ntwo\n"))
        try await store.update(note.id) { $0.text = "one\nand a half\ntwo\n" }
        try await store.update(note.id) { $0.text.string += "three\n" }
        // The first of both edits is not the last one of the text any more.
        let first = try #require(try await store.get(note.id))
        #expect(try await store.undo())
        #expect(try await store.get(note.id)?.text == "one\nand a half\ntwo\n")
        try receive("text", .string("one\nand a half\ntwo\nfour\n"), at: laterClock(), in: note.id, store)
        #expect(try await store.redo())
        #expect(first.text == "one\nand a half\ntwo\nthree\n")
        #expect(try await store.get(note.id)?.text == first.text)
    }

    @Test func aDeletionIsUndoneWithTheSameIDForTenSeconds() async throws {
        let soup = try await store.insert(Recipe(title: "Soup"))
        try await store.delete(soup.id)
        temporary.wait(milliseconds: 9_999)
        #expect(try await store.undo())
        #expect(try await recipe(soup.id) == soup)
        #expect(try store.database.read { try $0.deletions().isEmpty })
    }

    @Test func laterADeletionIsUndoneByANewObject() async throws {
        let soup = try await store.insert(Recipe(title: "Soup"))
        try await store.update(soup.id) { $0.title = "Leek soup" }
        try await store.delete(soup.id)
        temporary.wait(milliseconds: 10_000)
        #expect(try await store.undo())
        let copy = try #require(try await store.all(Recipe.self).first)
        #expect(copy.id != soup.id && copy.title == "Leek soup" && copy.rank == soup.rank)
        #expect(try store.database.read { try $0.deletions().map(\.deleted.uniqueID) } == [soup.id.uniqueID])
        // Earlier steps apply to the new object.
        #expect(try await store.undo())
        #expect(try await recipe(copy.id).title == "Soup")
    }

    @Test func aNewTransactionEndsRedo() async throws {
        let soup = try await store.insert(Recipe(title: "Soup"))
        try await store.update(soup.id) { $0.title = "Leek soup" }
        try await store.undo()
        #expect(store.canRedo)
        try await store.update(soup.id) { $0.isFavorite = true }
        #expect(!store.canRedo)
        #expect(try await store.redo() == false)
    }
}

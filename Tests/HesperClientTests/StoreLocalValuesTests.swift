import Foundation
import HesperClient
import HesperClientTesting
import Testing

/// What an app needs to keep notes in another place too: values that stay on the device, versions, and edits with a base.
struct StoreLocalValuesTests {
    @Test func valuesAreSavedWithTheTransactionAndNotSent() async throws {
        let store = try await MemoryServer().openStore()
        try await store.write { tx in
            try tx.setLocal("a.1", Data("one".utf8))
            try tx.setLocal("a.2", Data("two".utf8))
            try tx.setLocal("b.1", Data("three".utf8))
            try tx.setLocal("a.2", nil)
        }
        await #expect(throws: CancellationError.self) {
            try await store.write { tx in
                try tx.setLocal("a.3", Data())
                throw CancellationError()
            }
        }
        #expect(try await store.read { try $0.locals(withPrefix: "a.") } == ["1": Data("one".utf8)])
        #expect(try await store.read { try $0.local("b.1") } == Data("three".utf8))
        #expect(store.status.toSend.objects == 0)
    }

    @Test func theVersionOfAnObjectChangesWithEachChange() async throws {
        let store = try await MemoryServer().openStore()
        let (one, other) = (Note(text: "one"), Note(text: "other"))
        try await store.write { tx in
            try tx.insert(one)
            try tx.insert(other)
        }
        let before = try await store.read { try $0.versions(of: Note.self) }
        #expect(Set(before.keys) == [one.id, other.id])
        try await store.update(one.id) { $0.path = "One.md" }
        let after = try await store.read { try $0.versions(of: Note.self) }
        #expect(after[one.id] != before[one.id])
        #expect(after[other.id] == before[other.id])
        #expect(try await store.read { try $0.version(of: one.id) } == after[one.id])
        try await store.delete(one.id)
        #expect(try await store.read { try $0.version(of: one.id) } == nil)
        #expect(try await store.read { try $0.versions(of: Note.self) }.count == 1)
    }

    @Test func anEditWithABaseIsMergedWithWhatTheNoteHasBecome() async throws {
        let store = try await MemoryServer().openStore()
        let note = try await store.insert(Note(text: "Soup\nBread\n"))
        try await store.update(note.id) { $0.text = "Leek soup\nBread\n" }
        let merged = try await store.write {
            try $0.merge("Soup\nBread and salt\n", base: "Soup\nBread\n", into: note.id)
        }
        #expect(merged.text == "Leek soup\nBread and salt\n")
        #expect(try await store.get(note.id)?.text == merged.text)
        await #expect(throws: StoreError.notFound(objectType: "note", id: "11111111-1111-4111-8111-111111111111")) {
            try await store.write {
                try $0.merge("a", base: "", into: #require(ObjectID("11111111-1111-4111-8111-111111111111")))
            }
        }
    }
}

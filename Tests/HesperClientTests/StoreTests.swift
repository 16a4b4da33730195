import Foundation
import GRDB
import HesperClient
import HesperModel
import Testing

@Suite("Store") struct StoreTests {
    let temporary: TemporaryStore

    private var memory: FolderMemory { FolderMemory(folder: temporary.folder.appending(path: "state")) }

    init() throws { temporary = try TemporaryStore() }

    @Test func objectsAreKeptInTheFile() async throws {
        let id: ObjectID<Recipe>
        do {
            let store = try await LocalStore(at: temporary.file, memory, [Recipe.self])
            let soup = try await store.insert(Recipe(title: "Soup"))
            try await store.write { tx in
                try tx.update(soup.id) {
                    $0.title = "Leek soup"
                    $0.cooked += 1
                }
            }
            id = soup.id
        }
        let store = try await LocalStore(at: temporary.file, memory, [Recipe.self])
        let soup = try #require(try await store.get(id))
        #expect(soup.title == "Leek soup" && soup.cooked.value == 1)
        #expect(try await store.count(Recipe.self) == 1)
        #expect(try await store.all(Recipe.self, where: { $0.$title.contains("LEEK") }).map(\.id) == [id])
        #expect(try await store.all(Recipe.self, where: { $0.$title.contains("onion") }).isEmpty)
    }

    @Test func anEditorThatHoldsAnOldValueUndoesNothing() async throws {
        let store = try await temporary.open()
        let soup = try await store.insert(Recipe(title: "Soup"))
        var draft = soup
        draft.servings.unit = "bowls"
        draft.cooked += 2
        try await store.update(soup.id) {
            $0.title = "Leek soup"
            $0.servings.count = 6
            $0.cooked += 1
        }
        draft = try await store.save(draft)
        #expect(draft.title == "Leek soup" && draft.servings == Servings(count: 6, unit: "bowls"))
        #expect(draft.cooked.value == 3)
        draft.title = "Potato soup"
        draft = try await store.save(draft)
        #expect(try await store.get(soup.id) == draft)
        #expect(draft.title == "Potato soup" && draft.cooked.value == 3)
    }

    @Test func textsOfTwoEditorsAreMerged() async throws {
        let store = try await temporary.open()
        let note = try await store.insert(HesperClient.Note(text: "one\ntwo\nthree\n"))
        var (here, there) = (note, note)
        here.text = "one!\ntwo\nthree\n"
        there.text = "one\ntwo\nthree\nfour\n"
        _ = try await store.save(here)
        let saved = try await store.save(there)
        #expect(saved.text == "one!\ntwo\nthree\nfour\n")
    }

    @Test func aSaveWithoutChangesWritesNothing() async throws {
        let store = try await temporary.open()
        let note = try await store.insert(HesperClient.Note(text: "Milk"))
        let before = try store.database.read { try $0.object(note.id.uniqueID) }
        try await store.save(note)
        try await store.update(note.id) {
            $0.text = "Milk"
            $0.isPinned = false
        }
        #expect(try store.database.read { try $0.object(note.id.uniqueID) } == before)
        #expect(try await store.undo())
        #expect(!store.canUndo)
    }

    @Test func nothingIsWrittenIfTheTransactionThrows() async throws {
        struct Stop: Error {}
        let store = try await temporary.open()
        await #expect(throws: Stop.self) {
            try await store.write { tx in
                try tx.insert(Recipe(title: "Soup"))
                throw Stop()
            }
        }
        #expect(try await store.count(Recipe.self) == 0)
        #expect(!store.canUndo)
    }

    @Test func errorsAreTyped() async throws {
        let store = try await temporary.open()
        let soup = try await store.insert(Recipe(title: "Soup"))
        await #expect(throws: StoreError.idIsTaken(objectType: "recipe", id: soup.id.description)) {
            try await store.insert(soup)
        }
        try await store.delete(soup.id)
        await #expect(throws: StoreError.notFound(objectType: "recipe", id: soup.id.description)) {
            try await store.save(soup)
        }
        await #expect(throws: StoreError.notFound(objectType: "recipe", id: soup.id.description)) {
            try await store.update(soup.id) { $0.title = "Stew" }
        }
        let other = try await TemporaryStore().open([])
        await #expect(throws: StoreError.typeNotDeclared("recipe")) { try await other.all(Recipe.self) }
        await #expect(throws: StoreError.readOnly(objectType: "attachment")) {
            try await store.insert(HesperClient.Attachment())
        }
        try Data("This is not a database, but it is long enough to be one.".utf8).write(
            to: temporary.folder.appending(path: "x"))
        await #expect(throws: StoreError.self) {
            try await LocalStore(at: temporary.folder.appending(path: "x"), memory, [])
        }
    }

    @Test func aSetHasAtMost240MembersEver() async throws {
        let store = try await temporary.open()
        let soup = try await store.insert(Recipe(title: "Soup"))
        try await store.update(soup.id) { $0.labels = MergedSet((0..<200).map { "\($0)" }) }
        try await store.update(soup.id) { $0.labels = MergedSet((200..<240).map { "\($0)" }) }
        await #expect(throws: StoreError.tooManyMembers(set: "Recipe.labels", limit: 240)) {
            try await store.update(soup.id) { $0.labels.insert("240") }
        }
        #expect(try await store.get(soup.id)?.labels.count == 40)
    }

    @Test func tagsAreReadThroughMergedTags() async throws {
        let store = try await temporary.open()
        let survivor = try await store.insert(HesperClient.Tag(name: "soup"))
        let merged = try await store.insert(HesperClient.Tag(name: "soups"))
        let deleted = try await store.insert(HesperClient.Tag(name: "old"))
        var recipe = Recipe(title: "Soup")
        recipe.tags = [merged.id, deleted.id]
        let soup = try await store.insert(recipe)
        var note = HesperClient.Note(text: "Soup")
        note.tags = [merged.id]
        let noted = try await store.insert(note)
        try await store.delete(deleted.id)
        try store.database.write { records in
            _ = try records.put(
                DeletedObject(
                    uniqueID: merged.id.uniqueID, objectType: .tag, mergedInto: survivor.id.uniqueID,
                    deletionDate: records.now))
        }
        #expect(try await store.get(soup.id).map { Array($0.tags) } == [survivor.id])
        #expect(try await store.get(noted.id).map { Array($0.tags) } == [survivor.id])
        #expect(try await store.all(Recipe.self, where: { $0.$tags.contains(survivor.id) }).map(\.id) == [soup.id])
        #expect(try await store.count(HesperClient.Note.self, where: { $0.$tags.contains(survivor.id) }) == 1)
        #expect(try await store.count(Recipe.self, where: { $0.$tags.contains(merged.id) }) == 0)
        #expect(try await store.count(Recipe.self, where: { $0.$tags.contains(deleted.id) }) == 0)
        try await store.update(soup.id) { $0.tags.remove(survivor.id) }
        #expect(try await store.get(soup.id)?.tags.isEmpty == true)
        #expect(try await store.count(Recipe.self, where: { $0.$tags.contains(survivor.id) }) == 0)
    }

    @Test func deletedObjectsAreNotShown() async throws {
        let store = try await temporary.open()
        let soup = try await store.insert(Recipe(title: "Soup"))
        try await store.delete(soup.id)
        #expect(try await store.get(soup.id) == nil)
        #expect(try await store.all(Recipe.self).isEmpty)
        #expect(try await store.count(Recipe.self) == 0)
        let held = try store.database.read { try $0.deletions().map(\.heldUntil) }
        #expect(held == [Timestamp(clamping: 1_790_000_010_000)])
        try await store.sendDeletionsNow()
        #expect(
            try store.database.read { try $0.deletions().map(\.heldUntil) } == [Timestamp(clamping: 1_790_000_000_000)])
    }

    @Test func attachmentsAreCopied() async throws {
        let store = try await temporary.open()
        let note = try await store.insert(HesperClient.Note(text: "Picture"))
        let file = temporary.folder.appending(path: "Leek.JPG")
        let bytes = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        try bytes.write(to: file)
        let attachment = try await store.attach(file, to: note.id)
        try FileManager.default.removeItem(at: file)
        #expect(attachment.mimeType == "image/jpeg" && attachment.filename == "Leek.JPG")
        #expect(attachment.byteCount == bytes.count && attachment.sha256?.utf8.count == 64)
        #expect(try await store.get(note.id).map { Array($0.attachments) } == [attachment.id])
        #expect(try await store.data(of: attachment.id) == bytes)
        #expect(try store.database.read { try $0.object(attachment.id.uniqueID)?.made?.needsBytes } == true)
        try Data("x".utf8).write(to: file)
        await #expect(throws: StoreError.self) { try await store.attach(file, to: ObjectID()) }
        #expect(try store.files.list().count == 1)
    }
}

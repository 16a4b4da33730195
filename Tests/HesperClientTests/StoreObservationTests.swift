import Foundation
import GRDB
import HesperClient
import HesperModel
import Observation
import Testing

@Suite("Store: observation", .timeLimit(.minutes(10))) struct StoreObservationTests {
    let temporary: TemporaryStore
    let store: LocalStore

    init() async throws {
        temporary = try TemporaryStore()
        store = try await temporary.open()
    }

    @Test func valuesArriveAtOnceAndAfterChanges() async throws {
        let soup = try await store.insert(Recipe(title: "Soup"))
        var iterator = store.values(
            Recipe.self, where: { $0.$title.contains("soup") }, order: .ascending(\.$title)
        ).makeAsyncIterator()
        #expect(try await iterator.next()?.map(\.title) == ["Soup"])
        try await store.insert(Recipe(title: "Leek soup"))
        #expect(try await iterator.next()?.map(\.title) == ["Leek soup", "Soup"])
        // Neither changes what is observed.
        try await store.insert(Recipe(title: "Stew"))
        try await store.insert(HesperClient.Note(text: "Soup"))
        try await store.delete(soup.id)
        #expect(try await iterator.next()?.map(\.title) == ["Leek soup"])
        #expect(try await store.undo())
        #expect(try await iterator.next()?.map(\.title) == ["Leek soup", "Soup"])
    }

    @Test func anObjectIsObserved() async throws {
        let id = ObjectID<HesperClient.Note>()
        var iterator = store.value(of: id).makeAsyncIterator()
        #expect(try await iterator.next() == .some(.none))
        var note = HesperClient.Note(text: "Milk")
        note.id = id
        try await store.insert(note)
        #expect(try await iterator.next()??.text == "Milk")
        try receive("attributes.pinned", .bool(true), at: laterClock(), in: id, store)
        #expect(try await iterator.next()??.isPinned == true)
    }

    @Test func aSlowObserverReceivesTheLastState() async throws {
        let soup = try await store.insert(Recipe(title: "0"))
        var iterator = store.value(of: soup.id).makeAsyncIterator()
        #expect(try await iterator.next()??.title == "0")
        for number in 1...50 { try await store.update(soup.id) { $0.title = "\(number)" } }
        var title = ""
        var count = 0
        while title != "50" {
            title = try #require(try await iterator.next()??.title)
            count += 1
        }
        #expect(count <= 50)
    }

    @Test func aMergedTagChangesWhatIsObserved() async throws {
        let (one, other) = try await store.write { tx in
            (try tx.insert(HesperClient.Tag(name: "one")), try tx.insert(HesperClient.Tag(name: "other")))
        }
        var recipe = Recipe(title: "Soup")
        recipe.tags = [one.id]
        try await store.insert(recipe)
        var iterator = store.value(of: recipe.id).makeAsyncIterator()
        #expect(try await iterator.next()??.tags == [one.id])
        try store.database.write { records in
            _ = try records.put(
                DeletedObject(
                    uniqueID: one.id.uniqueID, objectType: .tag, mergedInto: other.id.uniqueID,
                    deletionDate: records.now))
        }
        #expect(try await iterator.next()??.tags == [other.id])
    }

    @Test func noticesAndTheShelfAreObserved() async throws {
        let note = UniqueID.random()
        var notices = store.notices.makeAsyncIterator()
        var shelf = store.shelf.makeAsyncIterator()
        #expect(try await notices.next()?.isEmpty == true)
        #expect(try await shelf.next()?.isEmpty == true)
        try store.database.write { records in
            let rejected = #"{"type":"note","attribute":"sortDate","value":"x","slug":"invalid-field","moment":0}"#
            for (table, record) in [
                ("notices", #"{"kind":"merged","texts":["green"],"moment":0}"#), ("shelf", rejected),
            ] {
                try records.database.execute(
                    sql: "INSERT INTO \(table) (id, record) VALUES (?, ?)", arguments: [Data(note.bytes), record])
            }
        }
        let notice = try #require(try await notices.next()?.first)
        #expect(
            notice.kind == .merged && notice.objectID == ObjectID<HesperClient.Note>(note).uuid
                && notice.texts == ["green"])
        let change = try #require(try await shelf.next()?.first)
        #expect(change.attribute == "sortDate" && change.value == "x" && change.code == "invalid-field")
        try await store.dismiss(notice)
        try await store.dismiss(change)
        #expect(try await notices.next()?.isEmpty == true)
        #expect(try await shelf.next()?.isEmpty == true)
    }

    @MainActor @Test func liveIsObservable() async throws {
        let live = Live<Recipe>(store, order: .ascending(\.$title))
        func change() async throws {
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
            withObservationTracking {
                _ = live.values
            } onChange: {
                continuation.yield()
            }
            try await store.insert(Recipe(title: "Soup"))
            var iterator = stream.makeAsyncIterator()
            await iterator.next()
            while live.values.count < 1 { await Task.yield() }
        }
        try await change()
        #expect(live.values.map(\.title) == ["Soup"])
        #expect(live.isLoaded && live.error == nil)
    }
}

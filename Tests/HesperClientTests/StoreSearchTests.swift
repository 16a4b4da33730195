import Foundation
import HesperClient
import HesperModel
import Testing

@Suite("Store: search") struct StoreSearchTests {
    let temporary: TemporaryStore
    let store: LocalStore

    init() async throws {
        temporary = try TemporaryStore()
        store = try await temporary.open()
    }

    private func found(_ query: String) async throws -> Set<String> {
        Set(try await store.search(query).map(\.text.string))
    }

    @Test func findsWhatTheModelFinds() async throws {
        let texts = [
            "Leek and potato soup", "potato Soup", "Crème brûlée", "東京都の天気", "don’t panic", "한국어", "🎉 party", "",
        ]
        for text in texts { try await store.insert(HesperClient.Note(text: MergedText(text))) }
        for query in [
            "soup", "sou leek", "\"potato soup\"", "\"soup potato\"", "creme", "京都", "東", "don't", "하", "🎉", "nothing",
            "", "\"",
        ] {
            let parsed = try SearchQuery(query)
            #expect(try await found(query) == Set(texts.filter(parsed.matches)), "\(query)")
        }
        await #expect(throws: StoreError.self) { try await store.search(String(repeating: "word ", count: 40)) }
    }

    @Test func theIndexFollowsChanges() async throws {
        let note = try await store.insert(HesperClient.Note(text: "Milk"))
        #expect(try await found("milk") == ["Milk"])
        try await store.update(note.id) { $0.text = "Bread" }
        #expect(try await found("milk").isEmpty)
        #expect(try await found("bread") == ["Bread"])
        try receive("text", .string("Butter"), at: laterClock(), in: ObjectID<HesperClient.Note>(), store)
        #expect(try await found("butter").isEmpty, "The note does not exist until its creation date is known.")
        try await store.delete(note.id)
        #expect(try await found("bread").isEmpty)
        try await store.undo()
        #expect(try await found("bread") == ["Bread"])
        try store.database.write { records in
            _ = try records.put(
                DeletedObject(uniqueID: note.id.uniqueID, objectType: .note, deletionDate: records.now))
        }
        #expect(try await found("bread").isEmpty)
    }

    @Test func ownTypesAreSearchedToo() async throws {
        var soup = Recipe(title: "Leek soup")
        soup.course = .starter
        try await store.insert(soup)
        try await store.insert(Recipe(title: "Crème brûlée"))
        #expect(try await store.search("brulee", in: Recipe.self).map(\.title) == ["Crème brûlée"])
        #expect(try await store.search("starter", in: Recipe.self).isEmpty)
        #expect(try await store.search("", in: Recipe.self, limit: 1).count == 1)
        let tag = try await store.insert(HesperClient.Tag(name: "Küche"))
        #expect(try await store.search("kuche", in: HesperClient.Tag.self) == [tag])
    }

    @Test func manyObjectsAreIndexedInSeveralTransactions() async throws {
        try await store.write { tx in
            for number in 0..<1_200 { try tx.insert(HesperClient.Note(text: "note \(number)")) }
        }
        #expect(try await store.search("note").count == 1_200)
        #expect(try await store.search("1199").count == 1)
        #expect(try await store.search("119").count == 11)
    }
}

import Foundation
import HesperClient
import HesperModel
import Testing

private typealias Attachment = HesperClient.Attachment

/// Texts and files of objects of an app's type, in a store that does not sync.
@Suite("Store: texts and files of objects") struct StoreObjectTextsTests {
    let temporary: TemporaryStore
    let store: LocalStore

    init() async throws {
        temporary = try TemporaryStore()
        store = try await temporary.open([Dish.self])
    }

    private func dish(_ id: ObjectID<Dish>) async throws -> Dish { try #require(try await store.get(id)) }

    private func picture(_ name: String) throws -> URL {
        let file = temporary.folder.appending(path: name)
        try Data(name.utf8).write(to: file)
        return file
    }

    @Test func textsAndFilesHaveRegistersOfTheirOwn() async throws {
        let photo = Attachment.ID()
        let soup = Dish(title: "Soup", method: "Boil.", photo: photo)
        #expect(
            try soup.insertion().changes == [
                .set("attributes.title", .string("Soup")), .text("texts.method", base: nil, now: "Boil."),
                .set("files.photo", .string(photo.description)),
            ])
        let stored = try await store.insert(soup)
        #expect(stored == soup)
        #expect(try await store.get(soup.id) == soup)
        #expect(try await store.insert(Dish(title: "Stew")).photo == nil)
    }

    @Test func aSavedTextIsMergedWithWhatArrived() async throws {
        let soup = try await store.insert(Dish(title: "Soup", method: "one\ntwo\nthree\n", tips: "Salt"))
        var draft = soup
        draft.method = "one!\ntwo\nthree\n"
        try await store.update(soup.id) { $0.method = "one\ntwo\nthree\nfour\n" }
        draft = try await store.save(draft)
        #expect(draft.method == "one!\ntwo\nthree\nfour\n" && draft.tips == "Salt")
        let merged = try await store.write {
            try $0.merge("one!\ntwo\nfour\n", base: "one!\ntwo\nthree\nfour\n", into: soup.id, \.$method)
        }
        #expect(merged.method == "one!\ntwo\nfour\n")
        let unchanged = try store.database.read { try $0.object(soup.id.uniqueID) }
        try await store.save(merged)
        #expect(try store.database.read { try $0.object(soup.id.uniqueID) } == unchanged)
    }

    @Test func aTextHasAtMostOneMebibyte() async throws {
        let long = MergedText(String(repeating: "x", count: (1 << 20) + 1))
        await #expect(throws: StoreError.self) { try await store.insert(Dish(method: long)) }
        let soup = try await store.insert(Dish(method: "Boil."))
        let error = await #expect(throws: StoreError.self) { try await store.update(soup.id) { $0.method = long } }
        #expect(error?.description.hasPrefix("method must") == true, "\(error?.description ?? "")")
        #expect(try await dish(soup.id).method == "Boil.")
    }

    @Test func textsOfAllVersionsOfTheAppCount() async throws {
        let soup = try await store.insert(Dish(method: "Boil.", tips: "Salt"))
        let other = try await temporary.open([OtherDish.self])
        let id = ObjectID<OtherDish>(soup.id.uniqueID)
        try await other.update(id) {
            $0.story = "Once"
            $0.shopping = "Leek"
        }
        await #expect(throws: StoreError.self) { try await other.update(id) { $0.wine = "Red" } }
        #expect(try await other.get(id)?.wine == "")
    }

    @Test func predicatesAndSearchFindTexts() async throws {
        let photo = Attachment.ID()
        let soup = try await store.insert(Dish(title: "Soup", method: "Boil the leeks.", photo: photo))
        let stew = try await store.insert(Dish(title: "Stew", tips: "With leek"))
        #expect(try await store.all(Dish.self, where: { $0.$method.contains("LEEK") }) == [soup])
        #expect(try await store.all(Dish.self, where: { $0.$photo == photo }) == [soup])
        #expect(try await store.all(Dish.self, where: { $0.$photo == nil }) == [stew])
        #expect(try await store.all(Dish.self, order: .descending(\.$method)).map(\.id) == [soup.id, stew.id])
        #expect(Set(try await store.search("leek", in: Dish.self).map(\.id)) == [soup.id, stew.id])
        #expect(try await store.search("boil soup", in: Dish.self) == [soup])
    }

    @Test func undoMergesTextsAndRestoresFiles() async throws {
        let (first, second) = (Attachment.ID(), Attachment.ID())
        let soup = try await store.insert(Dish(method: "one\ntwo\n", photo: first))
        try await store.update(soup.id) {
            $0.method = "one\ntwo, chopped\n"
            $0.photo = second
            $0.scan = second
        }
        try receive("texts.method", .string("one\ntwo, chopped\nthree\n"), at: laterClock(), in: soup.id, store)
        try store.database.write { records in
            var record = try #require(try records.object(soup.id.uniqueID))
            record.edits["texts.method"] = nil
            try records.save(record)
        }
        try await store.undo()
        var now = try await dish(soup.id)
        #expect(now.method == "one\ntwo\nthree\n" && now.photo == first && now.scan == nil)
        try await store.redo()
        now = try await dish(soup.id)
        #expect(now.method == "one\ntwo, chopped\nthree\n" && now.photo == second && now.scan == second)
        try receive("files.photo", .null, at: laterClock(1), in: soup.id, store)
        try await store.undo()
        #expect(try await dish(soup.id).photo == nil)
    }

    @Test func aRestoredObjectHasItsTextsAndFiles() async throws {
        let photo = Attachment.ID()
        let soup = try await store.insert(Dish(title: "Soup", method: "Boil.", photo: photo))
        try await store.delete(soup.id)
        temporary.wait(milliseconds: 11_000)
        try await store.undo()
        let all = try await store.all(Dish.self)
        #expect(all.map(\.method) == ["Boil."] && all.map(\.photo) == [photo])
        #expect(all.first?.id != soup.id)
    }

    @Test func aFileIsAttachedToAProperty() async throws {
        let soup = try await store.insert(Dish(title: "Soup"))
        let leek = try await store.attach(try picture("leek.jpg"), to: soup.id, as: \.photo)
        #expect(leek.mimeType == "image/jpeg" && leek.filename == "leek.jpg")
        #expect(try await dish(soup.id).photo == leek.id)
        #expect(try await store.data(of: leek.id) == Data("leek.jpg".utf8))
        let onion = try await store.attach(try picture("onion"), to: soup.id, as: \.photo, mimeType: "image/png")
        #expect(try await dish(soup.id).photo == onion.id && onion.mimeType == "image/png")
        let file = try picture("missing")
        await #expect(throws: StoreError.self) { try await store.attach(file, to: ObjectID<Dish>(), as: \.photo) }
        #expect(try store.files.list().count == 2)
    }

    @Test func aVersionWithoutThemLeavesThem() async throws {
        let photo = Attachment.ID()
        let soup = try await store.insert(Dish(title: "Soup", method: "Boil.", photo: photo))
        let plain = try await temporary.open([PlainDish.self])
        let id = ObjectID<PlainDish>(soup.id.uniqueID)
        try await plain.update(id) { $0.title = "Leek soup" }
        let now = try await dish(soup.id)
        #expect(now.title == "Leek soup" && now.method == "Boil." && now.photo == photo)
        let stew = try await plain.insert(PlainDish(title: "Stew"))
        let read = try await dish(ObjectID(stew.id.uniqueID))
        #expect(read.method == "" && read.photo == nil)
    }

    /// A deletion states which texts the app had received, also those that it does not declare.
    @Test func aDeletionNamesTheTextsThatWereSeen() async throws {
        let soup = try await store.insert(Dish(title: "Soup", method: "Boil."))
        try receive("texts.tips", .string("Salt"), at: laterClock(), in: soup.id, store)
        let plain = try await temporary.open([PlainDish.self])
        let clock = try #require(
            try store.database.read { try $0.object(soup.id.uniqueID)?.cell("texts.method")?.clock })
        try await plain.delete(ObjectID<PlainDish>(soup.id.uniqueID))
        let deletion = try #require(try store.database.read { try $0.deletion(of: soup.id.uniqueID) })
        #expect(
            deletion.seenTexts == [
                "texts.method": LocalDeletion.SeenText(after: [clock]),
                "texts.tips": LocalDeletion.SeenText(clock: laterClock()),
            ])
    }
}

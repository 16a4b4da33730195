// Only what an app imports.
import Foundation
import HesperClient
import Testing

@Suite("Store: the quick start") struct StoreQuickStartTests {
    struct Servings: MergedRecord { var count = 4, unit = "plates" }

    struct Recipe: SyncedObject {
        static let objectType = "recipe"
        static let indexes = [Index(\Recipe.$title)]
        var id = ObjectID<Recipe>()
        @Merged var title = ""
        @Merged var servings = Servings()
        @Merged var tags = MergedSet<ObjectID<HesperClient.Tag>>()
        @Merged var cooked = Counter()
    }

    @Test func worksWithoutAnAccount() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "quick-start-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let memory = FolderMemory(folder: folder.appending(path: "state"))
        let store = try await LocalStore(at: folder.appending(path: "recipes.sqlite"), memory, [Recipe.self])
        let soup = try await store.insert(Recipe(title: "Soup"))
        try await store.write { tx in
            try tx.update(soup.id) {
                $0.title = "Leek soup"
                $0.cooked += 1
            }
        }
        var draft = soup
        draft.servings.unit = "bowls"
        draft = try await store.save(draft)
        #expect(draft.title == "Leek soup" && draft.servings.unit == "bowls" && draft.cooked.value == 1)
        for try await recipes in store.values(
            Recipe.self, where: { $0.$title.contains("soup") && $0.$servings.count > 2 }, order: .ascending(\.$title))
        {
            #expect(recipes == [draft])
            break
        }
    }
}

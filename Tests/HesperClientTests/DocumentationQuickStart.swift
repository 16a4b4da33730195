import Foundation
// snippet: quick-start
import HesperClient
// end
import HesperClientTesting

enum QuickStart {
    // snippet: quick-start
    struct Servings: MergedRecord { var count = 4, unit = "plates" }

    struct Recipe: SyncedObject {  // Identifiable, Codable, Sendable: a plain value
        static let objectType = "recipe"  // the name in the store and on the server; never change it
        static let indexes = [Index(\Recipe.$title)]
        var id = ObjectID<Recipe>()
        @Merged var title = ""
        @Merged var servings = Servings()  // each property is merged separately
        @Merged var tags = MergedSet<ObjectID<Tag>>()  // each member is merged separately
        @Merged var cooked = Counter()  // the sum of the counts of all devices
    }
    // end

    /// Runs the quick start with a server in memory.
    static func run(
        _ server: MemoryServer, at url: URL, email: String, password: String,
        _ show: @escaping @Sendable ([Recipe]) -> Void
    ) async throws -> Recipe {
        // swift-format-ignore: AlwaysUseLowerCamelCase
        func LocalStore(at url: URL, _ type: Recipe.Type) async throws -> HesperClient.LocalStore {
            try await server.openStore(at: url, type)
        }
        // snippet: quick-start
        let store = try await LocalStore(at: url, Recipe.self)  // one SQLite file; works without an account
        let soup = try await store.insert(Recipe(title: "Soup"))
        try await store.write { tx in  // one transaction, one step to undo
            try tx.update(soup.id) {
                $0.title = "Leek soup"
                $0.cooked += 1
            }
        }
        var draft = soup  // the copy that an editor changes
        draft.servings.unit = "bowls"
        draft = try await store.save(draft)  // writes only the changed properties

        try await store.signIn(to: "https://notes.example.org", email: email, password: password)  // once
        let list = Task {
            for try await recipes in store.values(
                Recipe.self, where: { $0.$title.contains("soup") }, order: .ascending(\.$title))
            {
                show(recipes)
            }
        }
        for await status in store.statuses where status.phase == .synced { break }
        list.cancel()
        // end
        return draft
    }
}

/// The code of README.md.
enum Readme {
    // snippet: readme
    struct Recipe: SyncedObject {
        static let objectType = "recipe"
        var id = ObjectID<Recipe>()
        @Merged var title = ""
        @Merged var method: MergedText = ""
        @Merged var photo: Attachment.ID?
        @Merged var cooked = Counter()
    }
    // end

    static func run(
        _ server: MemoryServer, at url: URL, email: String, password: String
    ) async throws -> (HesperClient.LocalStore, ObjectID<Recipe>) {
        // swift-format-ignore: AlwaysUseLowerCamelCase
        func LocalStore(at url: URL, _ type: Recipe.Type) async throws -> HesperClient.LocalStore {
            try await server.openStore(at: url, type)
        }
        // snippet: readme
        let store = try await LocalStore(at: url, Recipe.self)
        let soup = try await store.insert(Recipe(title: "Soup"))
        try await store.update(soup.id) { $0.cooked += 1 }
        try await store.signIn(to: "https://notes.example.org", email: email, password: password)
        // end
        return (store, soup.id)
    }
}

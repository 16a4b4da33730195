import Foundation
import HesperClient
import HesperClientTesting

#if canImport(SwiftUI)
    import SwiftUI
#endif

enum Tutorial {
    // snippet: tutorial-type
    struct Recipe: SyncedObject {
        static let objectType = "recipe"
        static let indexes = [Index(\Recipe.$title)]
        var id = ObjectID<Recipe>()
        @Merged var title = ""
        @Merged var servings = Servings()
        @Merged var cooked = Counter()
    }

    struct Servings: MergedRecord { var count = 4, unit = "plates" }
    // end

    // snippet: tutorial-model
    @MainActor final class RecipeBook {
        let store: LocalStore
        let recipes: Live<Recipe>

        init(_ store: LocalStore) {
            self.store = store
            recipes = Live(store, order: .ascending(\.$title))
        }

        func add(_ title: String) async throws {
            try await store.insert(Recipe(title: title))
        }

        func cook(_ recipe: Recipe) async throws {
            try await store.update(recipe.id) { $0.cooked += 1 }
        }

        func delete(_ recipe: Recipe) async throws {
            try await store.delete(recipe.id)
        }
    }
    // end

    // snippet: tutorial-editor
    @MainActor final class RecipeEditor {
        private let store: LocalStore
        var draft: Recipe

        init(_ store: LocalStore, _ recipe: Recipe) {
            self.store = store
            draft = recipe
        }

        /// Writes the edited properties. Changes of other devices are kept, and are in the draft afterwards.
        func save() async throws {
            draft = try await store.save(draft)
        }
    }
    // end

    static func following(_ store: LocalStore, _ show: (String) async -> Void) async {
        // snippet: tutorial-sync
        func follow(_ store: LocalStore, _ show: (String) async -> Void) async {
            for await status in store.statuses {
                switch status.phase {
                case .signedOut: await show("Sign in to sync.")
                case .synced: await show("All changes are synced.")
                case .offline: await show("Offline.")
                case .stopped, .syncing: await show("Syncing \(status.toSend.objects) changes.")
                case .waiting: await show("Not synced: \(status.problem.map { "\($0)" } ?? "")")
                }
            }
        }
        // end
        return await follow(store, show)
    }

    #if canImport(SwiftUI)
        // snippet: tutorial-view
        struct RecipeList: View {
            let book: RecipeBook
            @Environment(\.scenePhase) private var phase
            @State private var title = ""

            var body: some View {
                List(book.recipes.values) { recipe in
                    HStack {
                        Text(recipe.title)
                        Spacer()
                        Text("\(recipe.servings.count) \(recipe.servings.unit)")
                    }
                    .swipeActions {
                        Button("Cooked") { Task { try? await book.cook(recipe) } }
                        Button("Delete", role: .destructive) { Task { try? await book.delete(recipe) } }
                    }
                }
                .safeAreaInset(edge: .bottom) {
                    TextField("New recipe", text: $title).onSubmit {
                        let added = title
                        title = ""
                        Task { try? await book.add(added) }
                    }
                }
                .onChange(of: phase) {
                    // Deletions can no longer be undone once the app is in the background.
                    if phase == .background { Task { try? await book.store.sendDeletionsNow() } }
                }
            }
        }
    // end
    #endif

    static func cooking() async throws -> Int {
        // snippet: tutorial-test
        func twoDevicesCook() async throws -> Int {
            let server = MemoryServer()
            var devices: [LocalStore] = []
            for _ in 0..<2 { devices.append(try await server.openStore(Recipe.self)) }
            try await devices[0].signUp(
                to: "https://notes.example.org", email: "ada@example.org", password: "correct horse")
            try await devices[1].signIn(
                to: "https://notes.example.org", email: "ada@example.org", password: "correct horse")

            let soup = try await devices[0].insert(Recipe(title: "Soup"))
            for device in devices { await device.syncNow() }
            // Both are offline, and both cook the soup.
            server.isOffline = true
            for device in devices { try await device.update(soup.id) { $0.cooked += 1 } }
            server.isOffline = false
            for device in devices + devices { await device.syncNow() }
            return try await devices[0].get(soup.id)?.cooked.value ?? 0
        }
        // end
        return try await twoDevicesCook()
    }
}

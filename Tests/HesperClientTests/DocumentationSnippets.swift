import Foundation
import HesperClient
import HesperClientTesting

// The Swift code of HesperClient.docc. DocumentationTests runs it, and compares each block of the pages with the region of its name
// here: the lines between `// snippet: NAME` and `// end`. A region in several parts is joined with empty lines.
//
// This file imports neither Testing nor HesperModel, which have other types called Tag and Note.

/// What the pages show, in a namespace: other tests have types of the same names.
enum Snippets {
    // snippet: record
    struct Servings: MergedRecord { var count = 4, unit = "plates" }
    // end

    // snippet: enum
    enum Course: String, MergedScalar { case starter, main, dessert }
    // end

    // snippet: type
    struct Recipe: SyncedObject {
        static let objectType = "recipe"
        static let indexes = [Index(\Recipe.$title), Index { $0.$servings.count }]

        var id = ObjectID<Recipe>()
        @Merged var title = ""
        @Merged var course = Course.main
        @Merged var servings = Servings()
        @Merged var rating: Double?
        @Merged var tags = MergedSet<ObjectID<Tag>>()
        @Merged var labels: MergedSet<String> = []
        @Merged var cooked = Counter()
        @Merged var method: MergedText = ""
        @Merged var photo: Attachment.ID?
    }
    // end

    // snippet: rank
    struct Step: SyncedObject {
        static let objectType = "step"
        var id = ObjectID<Step>()
        @Merged var recipe: ObjectID<Recipe>? = nil
        @Merged var instruction = ""
        @Merged var rank = Rank()
    }
    // end

    static func steps(_ store: LocalStore, of soup: Recipe) async throws -> [Step] {
        // snippet: ranks
        let boil = try await store.insert(Step(recipe: soup.id, instruction: "Boil"))
        let serve = try await store.insert(
            Step(recipe: soup.id, instruction: "Serve", rank: Rank(between: boil.rank, and: nil)))
        try await store.insert(
            Step(recipe: soup.id, instruction: "Season", rank: Rank(between: boil.rank, and: serve.rank)))
        let steps = try await store.all(
            Step.self, where: { $0.$recipe == soup.id }, order: .ascending(\.$rank))
        // end
        return steps
    }

    // MARK: Reading and writing

    static func writing(_ store: LocalStore) async throws -> (soup: Recipe, draft: Recipe) {
        // snippet: insert
        let soup = try await store.insert(Recipe(title: "Soup"))
        // end
        // snippet: update
        try await store.update(soup.id) {
            $0.title = "Leek soup"
            $0.cooked += 1
        }
        // end
        // snippet: save
        var draft = soup
        draft.servings.unit = "bowls"
        draft = try await store.save(draft)
        // end
        // snippet: write
        try await store.write { tx in
            let vegan = try tx.insert(Tag(name: "vegan"))
            for recipe in try tx.all(Recipe.self, where: { $0.$course == .main }) {
                try tx.update(recipe.id) { $0.tags.insert(vegan.id) }
            }
        }
        // end
        return (soup, draft)
    }

    static func reading(_ store: LocalStore, _ id: ObjectID<Recipe>, _ vegan: ObjectID<Tag>) async throws -> [Int] {
        // snippet: get
        let soup = try await store.get(id)
        // end
        // snippet: query
        let large = try await store.all(
            Recipe.self, where: { $0.$servings.count > 2 && $0.$tags.contains(vegan) },
            order: [.descending(\.$rating), .ascending(\.$title)], limit: 20)
        // end
        // snippet: read
        let (soups, count) = try await store.read { tx in
            (try tx.all(Recipe.self, where: { $0.$title.contains("soup") }), try tx.count(Recipe.self))
        }
        // end
        return [soup == nil ? 0 : 1, large.count, soups.count, count]
    }

    // MARK: Observing

    static func observing(_ store: LocalStore, _ show: ([Recipe]) async -> Void) async throws {
        // snippet: values
        for try await recipes in store.values(
            Recipe.self, where: { $0.$title.contains("soup") }, order: .ascending(\.$title))
        {
            await show(recipes)
            if recipes.count > 1 { break }
        }
        // end
    }

    static func observing(_ store: LocalStore, _ soup: Recipe) async throws -> String {
        // snippet: value
        for try await recipe in store.value(of: soup.id) {
            guard let recipe else { return "deleted" }
            if recipe.title != soup.title { return "renamed to \(recipe.title)" }
        }
        // end
        return ""
    }

    @MainActor static func live(_ store: LocalStore) -> Live<Recipe> {
        // snippet: live
        let soups = Live<Recipe>(store, where: { $0.$title.contains("soup") }, order: .ascending(\.$title))
        // end
        return soups
    }

    // MARK: Undo and search

    static func undoing(_ store: LocalStore, _ soup: Recipe) async throws -> [String?] {
        // snippet: undo
        try await store.write { tx in
            try tx.update(soup.id) { $0.title = "Potato soup" }
            try tx.insert(Recipe(title: "Bread"))
        }
        try await store.undo()
        let undone = try await store.get(soup.id)?.title
        try await store.redo()
        let redone = try await store.get(soup.id)?.title
        // end
        return [undone, redone]
    }

    static func searching(_ store: LocalStore) async throws -> [Int] {
        // snippet: search
        let recipes = try await store.search("leek sou", in: Recipe.self)
        let notes = try await store.search("\"potato soup\" leek", limit: 10)
        // end
        return [recipes.count, notes.count]
    }

    // MARK: Syncing

    static func signingUp(_ store: LocalStore, _ email: String, _ password: String) async throws {
        // snippet: sign-up
        do {
            try await store.signUp(to: "https://notes.example.org", email: email, password: password)
        } catch AccountError.emailTaken {
            try await store.signIn(to: "https://notes.example.org", email: email, password: password)
        }
        // end
    }

    static func line(_ status: SyncStatus) -> String {
        // snippet: status
        func line(_ status: SyncStatus) -> String {
            switch status.problem {
            case .offline: "Offline. \(status.toSend.objects) changes are on this device only."
            case .signInAgain: "Sign in again to sync."
            case .storageFull: "Storage full: \(status.toSend.objects) changes are not synced."
            case .refused(let count): "The server rejected \(count) changes."
            case .some(let problem): "Not synced: \(problem)"
            case nil where status.phase == .synced: "All changes are synced."
            case nil: "Syncing: \(status.toSend.objects) to send, \(status.toFetch.objects) to receive."
            }
        }
        // end
        return line(status)
    }

    static func statuses(_ store: LocalStore, _ show: (String) async -> Void) async {
        // snippet: statuses
        for await status in store.statuses {
            await show(line(status))
            if status.phase == .synced { break }
        }
        // end
    }

    static func refreshing(_ store: LocalStore) async -> Bool {
        // snippet: sync-now
        let status = await store.syncNow(deadline: .seconds(10))
        // end
        return status.isIdentical
    }

    static func rejected(_ store: LocalStore) async throws -> [String] {
        var lines: [String] = []
        // snippet: shelf
        for try await changes in store.shelf {
            for change in changes {
                lines.append("\(change.attribute ?? change.objectType): \(change.value ?? ""): \(change.message)")
                try await store.dismiss(change)
            }
            if changes.isEmpty { break }
        }
        // end
        return lines
    }

    static func signingOut(_ store: LocalStore) async throws {
        // snippet: sign-out
        try await store.signOut()
        // end
    }

    static func erasing(_ store: LocalStore) async throws -> Int {
        // snippet: erase
        do {
            try await store.signOut(erasing: .ifSent)
        } catch StoreError.unsentChanges(let count) {
            // Ask the user: `.always` erases these changes too.
            return count
        }
        // end
        return 0
    }

    // MARK: Attachments

    static func attaching(_ store: LocalStore, _ photo: URL) async throws -> (Note, Data?) {
        // snippet: attach
        let note = try await store.insert(Note(text: "Leek soup, as on the photo."))
        let attachment = try await store.attach(photo, to: note.id)
        let bytes = try await store.download(attachment.id)
        // end
        return (try await store.get(note.id) ?? note, bytes)
    }

    static func attaching(_ store: LocalStore, _ photo: URL, to soup: Recipe) async throws -> Recipe {
        // snippet: attach-to-property
        let attachment = try await store.attach(photo, to: soup.id, as: \.photo)
        try await store.update(soup.id) { $0.photo = nil }
        try await store.update(soup.id) { $0.photo = attachment.id }
        // end
        return try await store.get(soup.id) ?? soup
    }

    static func saving(_ url: URL, _ rescued: URL) async throws -> LocalStore? {
        // snippet: damaged
        do {
            return try await LocalStore(at: url, Recipe.self)
        } catch StoreError.damaged {
            try LocalStore.saveUnsent(in: url, to: rescued)
        }
        // end
        return nil
    }

    // MARK: Several versions

    enum Version1 {
        // snippet: version-1
        struct Book: SyncedObject {
            static let objectType = "book"
            var id = ObjectID<Book>()
            @Merged var title = ""
        }
        // end
    }

    enum Version2 {
        // snippet: version-2
        struct Book: SyncedObject {
            static let objectType = "book"
            var id = ObjectID<Book>()
            @Merged var name = ""
            @Merged var pages = 0

            enum CodingKeys: String, CodingKey {
                case id, pages
                case name = "title"
            }
        }
        // end
    }

    // MARK: Testing

    static func twoDevices() async throws -> (title: String?, isIdentical: Bool) {
        // snippet: memory-server
        let server = MemoryServer()
        let phone = try await server.openStore(Recipe.self)
        let laptop = try await server.openStore(Recipe.self)
        try await phone.signUp(to: "https://notes.example.org", email: "ada@example.org", password: "correct horse")
        try await laptop.signIn(to: "https://notes.example.org", email: "ada@example.org", password: "correct horse")

        let soup = try await phone.insert(Recipe(title: "Soup"))
        await phone.syncNow()
        await laptop.syncNow()
        let received = try await laptop.get(soup.id)
        // end
        return (received?.title, laptop.status.isIdentical)
    }

    static func offline(_ server: MemoryServer, _ phone: LocalStore) async throws -> (SyncStatus, SyncStatus) {
        // snippet: offline
        server.isOffline = true
        try await phone.insert(Recipe(title: "Stew"))
        let offline = await phone.syncNow()  // .offline, 1 object to send

        server.isOffline = false
        server.fail(.responseLost, path: "/v1/sync")
        await phone.syncNow()  // the server has the object, and its response is lost
        let online = await phone.syncNow()  // .synced: nothing is doubled
        // end
        return (offline, online)
    }

    static func faultyServer() -> MemoryServer {
        // snippet: faults
        let server = MemoryServer(seed: 7)
        server.faults = FaultSchedule(seed: 7, [(.responseLost, 0.1), (.unavailable(retryAfter: 1), 0.05)])
        // end
        return server
    }

    static func virtualClock() async throws -> (before: Int, after: Int) {
        // snippet: virtual-clock
        let clock = VirtualClock()
        let server = MemoryServer(now: { clock.now })
        let phone = try await server.openStore(Recipe.self)
        try await phone.signUp(to: "https://notes.example.org", email: "ada@example.org", password: "correct horse")
        let soup = try await phone.insert(Recipe(title: "Soup"))
        try await phone.delete(soup.id)
        let before = await phone.syncNow(deadline: .seconds(1)).toSend.objects  // the deletion can still be undone
        clock.advance(by: 11)
        let after = await phone.syncNow().toSend.objects
        // end
        return (before, after)
    }
}

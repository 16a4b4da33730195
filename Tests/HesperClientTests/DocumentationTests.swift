import Foundation
import HesperClient
import HesperClientTesting
import Testing

/// The pages of HesperClient.docc: their Swift code is that of the snippets, which are compiled and run.
@Suite(.timeLimit(.minutes(10))) struct DocumentationTests {
    private let server = MemoryServer(seed: 1)
    private let email = "ada@example.org"
    private let password = "correct horse"

    // MARK: Pages

    private static let root = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    private static let pages = root.appending(path: "Sources/HesperClient/HesperClient.docc")

    @Test func theCodeOfThePagesIsThatOfTheSnippets() throws {
        var snippets: [String: String] = [:]
        for file in ["Snippets", "QuickStart", "Tutorial"] {
            let url = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "Documentation\(file).swift")
            snippets.merge(Self.snippets(try String(contentsOf: url, encoding: .utf8))) { $1 }
        }
        #expect(snippets.count > 25)
        var unused = Set(snippets.values)
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.pages.path).filter { $0.hasSuffix(".md") }
        #expect(names.count > 10)
        for url in names.map({ Self.pages.appending(path: $0) }) + [Self.root.appending(path: "README.md")] {
            let page = try String(contentsOf: url, encoding: .utf8)
            for block in Self.blocks(page) {
                #expect(
                    snippets.values.contains(block), "\(url.lastPathComponent) has code that no snippet has:\n\(block)")
                unused.remove(block)
            }
        }
        #expect(unused.isEmpty, "No page has this code.")
    }

    /// The Swift code of a page.
    private static func blocks(_ page: String) -> [String] {
        var blocks: [String] = []
        var lines: [Substring]?
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "```swift" {
                lines = []
            } else if line == "```" {
                if let lines { blocks.append(lines.joined(separator: "\n")) }
                lines = nil
            } else {
                lines?.append(line)
            }
        }
        return blocks
    }

    /// The regions of a file, without their common indentation.
    private static func snippets(_ source: String) -> [String: String] {
        var snippets: [String: String] = [:]
        var region: (name: String, indentation: Int, lines: [String])?
        for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
            let text = line.drop { $0 == " " }
            if text.hasPrefix("// snippet: ") {
                region = (String(text.dropFirst(12)), line.count - text.count, [])
            } else if text == "// end", let (name, _, lines) = region {
                let earlier = snippets[name].map { $0 + "\n\n" } ?? ""
                snippets[name] = earlier + lines.joined(separator: "\n")
                region = nil
            } else if let indentation = region?.indentation {
                region?.lines.append(String(line.dropFirst(indentation)))
            }
        }
        return snippets
    }

    // MARK: Code

    private func signedIn(_ types: any SyncedObject.Type) async throws -> LocalStore {
        let store = try await server.openStore(types)
        try await Snippets.signingUp(store, email, password)
        return store
    }

    @Test func theQuickStart() async throws {
        let desktop = try await server.openStore(QuickStart.Recipe.self)
        try await desktop.signUp(to: "https://notes.example.org", email: email, password: password)
        let folder = FileManager.default.temporaryDirectory.appending(path: "quick-start-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }

        let soup = try await QuickStart.run(
            server, at: folder.appending(path: "recipes.sqlite"), email: email, password: password
        ) { _ in }
        #expect(soup.title == "Leek soup" && soup.cooked.value == 1)
        #expect(soup.servings == QuickStart.Servings(count: 4, unit: "bowls"))
        await desktop.syncNow()
        #expect(try await desktop.get(soup.id) == soup)

        let (store, id) = try await Readme.run(
            server, at: folder.appending(path: "readme.sqlite"), email: email, password: password)
        #expect(await store.syncNow().phase == .synced)
        #expect(try await store.get(id)?.cooked.value == 1)
    }

    @Test func readingAndWriting() async throws {
        let store = try await server.openStore(Snippets.Recipe.self, Snippets.Step.self)
        let (soup, draft) = try await Snippets.writing(store)
        #expect(draft.title == "Leek soup" && draft.servings.unit == "bowls" && draft.cooked.value == 1)
        let tag = try #require(try await store.all(HesperClient.Tag.self).first)
        #expect(tag.name == "vegan")
        #expect(try await Snippets.reading(store, soup.id, tag.id) == [1, 1, 1, 1])
        #expect(try await Snippets.undoing(store, draft) == ["Leek soup", "Potato soup"])
        #expect(try await store.count(Snippets.Recipe.self) == 2)
        let steps = try await Snippets.steps(store, of: soup)
        #expect(steps.map(\.instruction) == ["Boil", "Season", "Serve"])
    }

    @Test func observing() async throws {
        let store = try await server.openStore(Snippets.Recipe.self)
        let seen = Locked<[[String]]>([])
        let soup = try await store.insert(Snippets.Recipe(title: "Soup"))
        try await Snippets.observing(store) { (recipes: [Snippets.Recipe]) in
            let isFirst = seen.withLock { seen in
                seen.append(recipes.map(\.title))
                return seen.count == 1
            }
            if isFirst { _ = try? await store.insert(Snippets.Recipe(title: "Leek soup")) }
        }
        #expect(seen.withLock { $0 } == [["Soup"], ["Leek soup", "Soup"]])

        async let news = Snippets.observing(store, soup)
        try await store.update(soup.id) { $0.title = "Broth" }
        #expect(try await news == "renamed to Broth")
        let live = await Snippets.live(store)
        while await !live.isLoaded { await Task.yield() }
        #expect(await live.values.map(\.title) == ["Leek soup"])
    }

    @Test func searching() async throws {
        let store = try await server.openStore(Snippets.Recipe.self)
        try await store.insert(Snippets.Recipe(title: "Soup of leeks"))
        try await store.insert(Snippets.Recipe(title: "Bread"))
        try await store.insert(HesperClient.Note(text: "A potato soup with leek"))
        try await store.insert(HesperClient.Note(text: "Soup: potato, leek"))
        #expect(try await Snippets.searching(store) == [1, 1])
    }

    @Test func syncing() async throws {
        let phone = try await signedIn(Snippets.Recipe.self)
        #expect(try await phone.account == email)
        let lines = Locked<[String]>([])
        await Snippets.statuses(phone) { line in lines.withLock { $0.append(line) } }
        #expect(lines.withLock { $0.last } == "All changes are synced.")

        // While it is live, it does not poll. A poll would use up the fault.
        for await status in phone.statuses where status.isLive { break }
        server.fail(.rejected(field: "attributes.title", slug: "invalid-field"), path: "/v1/sync")
        try await phone.insert(Snippets.Recipe(title: "Soup"))
        await phone.syncNow()
        #expect(Snippets.line(phone.status) == "The server rejected 1 changes.")
        let rejected = try await Snippets.rejected(phone)
        #expect(rejected.count == 1 && rejected[0].hasPrefix("attributes.title: Soup: "))
        let laptop = try await signedIn(Snippets.Recipe.self)
        #expect(await Snippets.refreshing(laptop))

        server.isOffline = true
        try await laptop.insert(Snippets.Recipe(title: "Stew"))
        #expect(try await Snippets.erasing(laptop) == 1)
        try await Snippets.signingOut(laptop)
        #expect(try await laptop.count(Snippets.Recipe.self) == 2)
        #expect(laptop.status.phase == .signedOut)
    }

    @Test func attachments() async throws {
        let photo = FileManager.default.temporaryDirectory.appending(path: "soup-\(UUID()).jpg")
        try Data("a photo".utf8).write(to: photo)
        defer { try? FileManager.default.removeItem(at: photo) }
        let store = try await server.openStore(Snippets.Recipe.self)
        let (note, bytes) = try await Snippets.attaching(store, photo)
        #expect(bytes == Data("a photo".utf8))
        #expect(note.attachments.count == 1)
        let soup = try await store.insert(Snippets.Recipe(title: "Soup"))
        let attached = try await Snippets.attaching(store, photo, to: soup)
        #expect(try await store.data(of: #require(attached.photo)) == Data("a photo".utf8))
    }

    @Test func aDamagedFile() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "damaged-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "store.sqlite")
        do {
            let store = try await LocalStore(at: file, Snippets.Recipe.self)
            try await store.insert(Snippets.Recipe(title: "Soup"))
        }
        #expect(try await Snippets.saving(file, folder.appending(path: "unsent.json")) != nil)
        #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "unsent.json").path))
        #expect(try LocalStore.saveUnsent(in: file, to: folder.appending(path: "unsent.json")) == 1)
    }

    @Test func severalVersions() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "versions-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "books.sqlite")
        typealias Old = Snippets.Version1.Book
        typealias New = Snippets.Version2.Book

        let old = try await server.openStore(at: file, Old.self)
        let book = try await old.insert(Old(title: "Soups"))
        let new = try await server.openStore(at: file, New.self)
        let id = ObjectID<New>(book.id.uuid)
        let read = try #require(try await new.get(id))
        #expect(read.name == "Soups" && read.pages == 0)
        try await new.update(id) { $0.pages = 96 }
        var draft = try #require(try await old.get(book.id))
        draft.title = "Soups and stews"
        try await old.save(draft)
        let after = try #require(try await new.get(id))
        #expect(after.name == "Soups and stews" && after.pages == 96)
    }

    @Test func testing() async throws {
        let (title, isIdentical) = try await Snippets.twoDevices()
        #expect(title == "Soup" && isIdentical)

        let (offline, online) = try await Snippets.offline(server, try await signedIn(Snippets.Recipe.self))
        #expect(offline.problem == .offline && offline.toSend.objects == 1)
        #expect(online.phase == .synced && online.isIdentical)

        let (before, after) = try await Snippets.virtualClock()
        #expect(before == 1 && after == 0)

        let faulty = Snippets.faultyServer()
        #expect(faulty.faults != nil)
    }

    @Test func theTutorial() async throws {
        #expect(try await Tutorial.cooking() == 2)
        let store = try await signedIn(Tutorial.Recipe.self)
        let book = await Tutorial.RecipeBook(store)
        try await book.add("Soup")
        while await book.recipes.values.isEmpty { await Task.yield() }
        let soup = try #require(await book.recipes.values.first)
        let editor = await Tutorial.RecipeEditor(store, soup)
        try await book.cook(soup)
        await MainActor.run { editor.draft.title = "Leek soup" }
        try await editor.save()
        let draft = await editor.draft
        #expect(draft.title == "Leek soup" && draft.cooked.value == 1)

        let lines = Locked<[String]>([])
        let following = Task { await Tutorial.following(store) { line in lines.withLock { $0.append(line) } } }
        while lines.withLock({ $0.last }) != "All changes are synced." { await Task.yield() }
        following.cancel()
        try await book.delete(draft)
        #expect(try await store.count(Tutorial.Recipe.self) == 0)
    }
}

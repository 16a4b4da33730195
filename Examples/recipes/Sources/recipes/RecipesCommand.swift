import Foundation
import HesperClient

/// A recipe book for the terminal that syncs with a Hesper server.
@main struct RecipesCommand {
    static let usage = """
        usage: recipes [--file FILE] COMMAND

          add TITLE [--servings COUNT]   adds a recipe
          list                           prints all recipes
          show TITLE                     prints the steps of a recipe
          step TITLE TEXT                adds a step to a recipe
          cook TITLE                     counts that a recipe was cooked
          rename TITLE NEW-TITLE         renames a recipe
          delete TITLE                   deletes a recipe
          sign-up URL EMAIL              creates an account on a server, and syncs with it
          sign-in URL EMAIL              syncs with an account
          watch                          prints the recipes and the state of sync whenever they change

        TITLE may be a part of the title. The recipes are in FILE, by default ~/.recipes.sqlite.
        The password is read from RECIPES_PASSWORD, or from the terminal.
        """

    static func main() async {
        do {
            try await run(Array(CommandLine.arguments.dropFirst()))
        } catch let error as AccountError {
            fail(error.description)
        } catch let error as StoreError {
            fail(error.description)
        } catch {
            fail("\(error)")
        }
    }

    private static func run(_ arguments: [String]) async throws {
        var arguments = arguments
        let file = try option("--file", of: &arguments).map { URL(filePath: $0) }
        let servings = try option("--servings", of: &arguments)
        guard let command = arguments.first else { throw Failure(usage) }
        let words = Array(arguments.dropFirst())
        let home = FileManager.default.homeDirectoryForCurrentUser
        let store = try await LocalStore(at: file ?? home.appending(path: ".recipes.sqlite"), Recipe.self)
        // A command ends before the changes of other devices would arrive by themselves.
        if !["add", "sign-up", "sign-in", "watch"].contains(command) { await store.syncNow(deadline: .seconds(5)) }

        switch (command, words.count) {
        case ("add", 1):
            var recipe = Recipe(title: words[0])
            if let servings {
                guard let count = Int(servings), count > 0 else {
                    throw Failure("--servings must be a positive number.")
                }
                recipe.servings.count = count
            }
            say("\(try await store.insert(recipe))")
        case ("list", 0):
            for recipe in try await store.all(Recipe.self, order: .ascending(\.$title)) { say("\(recipe)") }
            return
        case ("show", 1):
            return say(try await find(words[0], in: store).steps.string)
        case ("step", 2):
            let recipe = try await find(words[0], in: store)
            say("\(try await store.update(recipe.id) { $0.steps.string += "\(words[1])\n" })")
        case ("cook", 1):
            let recipe = try await find(words[0], in: store)
            say("\(try await store.update(recipe.id) { $0.cooked += 1 })")
        case ("rename", 2):
            let recipe = try await find(words[0], in: store)
            say("\(try await store.update(recipe.id) { $0.title = words[1] })")
        case ("delete", 1):
            try await store.delete(try await find(words[0], in: store).id)
            // This process ends before the time in which it could be undone.
            try await store.sendDeletionsNow()
        case ("sign-up", 2):
            try await store.signUp(to: words[0], email: words[1], password: try password())
        case ("sign-in", 2):
            try await store.signIn(to: words[0], email: words[1], password: try password())
        case ("watch", 0):
            return try await watch(store)
        default:
            throw Failure(usage)
        }
        // Everything is in the file by now. Without a network, the next command sends it.
        let status = await store.syncNow(deadline: .seconds(10))
        if status.phase != .signedOut { say(line(status)) }
    }

    // MARK: Recipes

    /// The recipe whose title is this text, or contains it.
    private static func find(_ text: String, in store: LocalStore) async throws -> Recipe {
        let found = try await store.all(
            Recipe.self, where: { $0.$title.contains(text) }, order: .ascending(\.$title))
        let exact = found.filter { $0.title == text }
        if exact.count == 1 { return exact[0] }
        guard let recipe = found.first else { throw Failure("There is no recipe \"\(text)\".") }
        guard found.count == 1 else {
            throw Failure("Several recipes match: \(found.map(\.title).joined(separator: ", ")).")
        }
        return recipe
    }

    /// Prints the recipes and the state of sync whenever they change, until the process is terminated.
    private static func watch(_ store: LocalStore) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for try await recipes in store.values(Recipe.self, order: .ascending(\.$title)) {
                    say((["recipes: \(recipes.count)"] + recipes.map { "  \($0)" }).joined(separator: "\n"))
                }
            }
            group.addTask {
                var last = ""
                for await status in store.statuses where line(status) != last {
                    last = line(status)
                    say(last)
                }
            }
            try await group.waitForAll()
        }
    }

    // MARK: Status

    /// The state of sync in one line.
    private static func line(_ status: SyncStatus) -> String {
        // Of several processes with one file, one syncs what all of them write.
        var parts = [status.phase == .stopped ? "sync: by another process" : "sync: \(status.phase)"]
        if status.toSend.objects > 0 { parts.append("\(status.toSend.objects) to send") }
        if status.toFetch.objects > 0 { parts.append("\(status.toFetch.objects) to fetch") }
        if status.isIdentical { parts.append("identical to the server") }
        if status.isLive { parts.append("live") }
        if let problem = status.problem, problem != .offline { parts.append(text(problem)) }
        return parts.joined(separator: ", ")
    }

    private static func text(_ problem: SyncProblem) -> String {
        switch problem {
        case .offline: "the server cannot be reached"
        case .signInAgain(.expired): "sign in again"
        case .signInAgain(.copied): "this file is a copy; sign in again"
        case .accountDisabled: "the account is disabled"
        case .storageFull: "the account is full"
        case .diskFull: "the disk of this device is full"
        case .clockWrong(let error): "the clock of this device is wrong by \(error.components.seconds) s"
        case .refused(let count): "\(count) changes were rejected"
        case .serverTooOld: "the server is too old"
        case .serverFailed(let reason), .localCopyFailed(let reason): reason
        }
    }

    // MARK: The terminal

    struct Failure: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    /// Removes an option from the arguments, and returns its value.
    private static func option(_ name: String, of arguments: inout [String]) throws -> String? {
        guard let index = arguments.firstIndex(of: name) else { return nil }
        guard index + 1 < arguments.count else { throw Failure("\(name) must be followed by a value.") }
        defer { arguments.removeSubrange(index...index + 1) }
        return arguments[index + 1]
    }

    private static func password() throws -> String {
        if let password = ProcessInfo.processInfo.environment["RECIPES_PASSWORD"] { return password }
        guard let text = getpass("Password: ") else { throw Failure("There is no terminal to read the password from.") }
        return String(cString: text)
    }

    private static func say(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

    private static func fail(_ text: String) -> Never {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
        exit(1)
    }
}

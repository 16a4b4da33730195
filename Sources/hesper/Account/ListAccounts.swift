import ArgumentParser
import HesperModel
import HesperStore

extension AccountCommand {
    /// `hesper account list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List all accounts: e-mail address, when it was made, objects, bytes; separated by tabs.")

        @OptionGroup var dataOptions: DataOptions

        func run() async throws {
            try await dataOptions.withStore(list)
        }

        private func list(of store: any Store) async throws {
            let lines = try await store.read { snapshot in
                try snapshot.accounts().map { account in
                    let usage = try snapshot.usage(of: account.scope)
                    return "\(account.email)\t\(account.creationDate)\t\(usage.objects)\t\(usage.bytes)"
                }
            }
            lines.forEach(Terminal.say)
        }
    }
}

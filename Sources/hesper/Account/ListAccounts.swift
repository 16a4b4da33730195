import ArgumentParser
import HesperModel
import HesperStore

extension AccountCommand {
    /// The command `hesper account list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "List all accounts as tab-separated values: e-mail address, creation date, number of objects, "
                + "size of the objects in bytes, bytes counted against the quota, quota, and state (disabled or -).")

        @OptionGroup var dataOptions: DataOptions

        func run() async throws {
            try await dataOptions.withStore(list)
        }

        private func list(of store: any Store) async throws {
            let lines = try await store.read { snapshot in
                try snapshot.accounts().map { account in
                    let usage = try snapshot.usage(of: account.scope)
                    let state = account.disabledSince == nil ? "-" : "disabled"
                    return "\(account.email)\t\(account.creationDate)\t\(usage.objects)\t\(usage.bytes)"
                        + "\t\(usage.storage.bytes)\t\(usage.storage.quota)\t\(state)"
                }
            }
            lines.forEach(Terminal.printLine)
        }
    }
}

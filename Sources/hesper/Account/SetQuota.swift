import ArgumentParser
import HesperModel
import HesperStore

extension AccountCommand {
    /// `hesper account set-quota EMAIL 5GiB`
    struct SetQuota: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set-quota",
            abstract: "Set how many bytes an account may store: texts with their history, and attachments.",
            discussion: """
                Takes effect at once, also while a server runs. An account that stores more than that loses nothing: \
                deletions, changes of tags and texts that get shorter are still taken, the rest is refused until there is \
                room again.
                """)

        @Argument(help: "The account's e-mail address.") var email: String
        @Argument(
            help: ArgumentHelp(
                "5GiB, for example; unlimited; or default: as many as the server's setting says (HESPER_QUOTA).",
                valueName: "size")) var quota: Quota
        @OptionGroup var dataOptions: DataOptions

        func run() async throws {
            try await dataOptions.withStore(set)
        }

        private func set(in store: any Store) async throws {
            let (email, quota) = (email, quota)
            let (account, storage) = try await store.write { transaction in
                let account = try transaction.account(of: email)
                try transaction.setQuota(quota, of: account.scope)
                return (account, try transaction.storage(of: account.scope))
            }
            Terminal.say("The quota of \(account.email) is now \(quota); \(storage.bytes) bytes are used.")
        }
    }
}

extension Quota: ExpressibleByArgument {
    public init?(argument: String) {
        switch argument {
        case "default": self = .standard
        case "unlimited": self = .unlimited
        default:
            guard let size = ByteSize(argument) else { return nil }
            self = .bytes(size.bytes)
        }
    }
}

extension Quota: CustomStringConvertible {
    public var description: String {
        switch self {
        case .standard: "default"
        case .unlimited: "unlimited"
        case .bytes(let bytes): "\(bytes) bytes"
        }
    }
}

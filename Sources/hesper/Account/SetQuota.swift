import ArgumentParser
import HesperModel
import HesperStore

extension AccountCommand {
    /// The command `hesper account set-quota EMAIL 5GiB`.
    struct SetQuota: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set-quota",
            abstract: "Set the storage quota of an account. Texts, their history and attachments count against it.",
            discussion: """
                Takes effect immediately, also while a server runs. An account over its quota loses no data. It can still \
                delete objects, change tags and shorten texts. Other changes are refused until it is below the quota.
                """)

        @Argument(help: "The account's e-mail address.") var email: String
        @Argument(
            help: ArgumentHelp(
                "A size such as 5GiB, the word unlimited, or the word default for the setting of the server (HESPER_QUOTA).",
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
            Terminal.printLine(
                "The quota of \(account.email) is now \(quota). The account uses \(storage.bytes) bytes.")
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

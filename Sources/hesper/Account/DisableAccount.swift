import ArgumentParser
import HesperModel
import HesperStore

extension AccountCommand {
    /// The command `hesper account disable EMAIL`.
    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Disable an account. The server refuses its sign-ins and the requests of its devices. No data is "
                + "deleted.")

        @Argument(help: "The account's e-mail address.") var email: String
        @OptionGroup var dataOptions: DataOptions

        func run() async throws {
            try await dataOptions.withStore { store in
                let account = try await store.setDisabled(since: .now, email)
                Terminal.printLine("Disabled the account \(account.email).")
            }
        }
    }

    /// The command `hesper account enable EMAIL`.
    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Enable a disabled account. Its devices are still signed in.")

        @Argument(help: "The account's e-mail address.") var email: String
        @OptionGroup var dataOptions: DataOptions

        func run() async throws {
            try await dataOptions.withStore { store in
                let account = try await store.setDisabled(since: nil, email)
                Terminal.printLine("Enabled the account \(account.email).")
            }
        }
    }
}

extension Store {
    /// Disables an account, or enables it.
    /// - Parameter date: the time from which the account is disabled; nil to enable the account.
    /// - Returns: the account.
    fileprivate func setDisabled(since date: Timestamp?, _ email: String) async throws -> Account {
        let account = try await write { transaction in
            let account = try transaction.account(of: email)
            // If the account is already disabled, the original date is kept.
            if date == nil || account.disabledSince == nil {
                try transaction.setDisabled(since: date, account.uniqueID)
            }
            return account
        }
        signals?.send([.sessionsChanged(account.scope)])
        return account
    }
}

import ArgumentParser
import HesperModel
import HesperServer
import HesperStore

extension AccountCommand {
    /// The command `hesper account set-password EMAIL`.
    struct SetPassword: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set-password",
            abstract: "Set a new password and sign out all devices. Data on the devices is not removed.")

        @Argument(help: "The account's e-mail address.") var email: String
        @OptionGroup var password: PasswordOptions
        @OptionGroup var dataOptions: DataOptions

        func run() async throws {
            try await dataOptions.withStore(set)
        }

        private func set(in store: any Store) async throws {
            let email = email
            let account = try await store.read { try $0.account(of: email) }
            let hash = try PasswordHash.make(
                try password.read(), cost: try dataOptions.settings().passwordCost())
            // All devices are signed out, because another person may have signed in with the old password.
            try await store.write { try $0.changePassword(to: hash, of: account.uniqueID, signingOut: .all) }
            store.signals?.send([.sessionsChanged(account.scope)])
            Terminal.printLine("Set a new password for \(account.email). All devices must sign in again.")
        }
    }
}

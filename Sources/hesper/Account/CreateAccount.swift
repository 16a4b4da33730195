import ArgumentParser
import HesperModel
import HesperServer
import HesperStore

extension AccountCommand {
    /// The command `hesper account create EMAIL`.
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Create an account, regardless of the sign-up policy. Creates the data folder if it does not exist.")

        @Argument(help: "The e-mail address for signing in.") var email: String
        @OptionGroup var password: PasswordOptions
        @OptionGroup var dataOptions: DataOptions

        func validate() throws {
            guard Account.isEmail(email) else {
                throw ValidationError("\"\(email)\" is not an e-mail address. Example: ada@example.org")
            }
        }

        func run() async throws {
            try await dataOptions.withStore(making: true, create)
        }

        private func create(in store: any Store) async throws {
            let email = email
            // The address is checked before the password prompt, so that users do not enter a password for an address that
            // already has an account. The address is checked again when the account is inserted.
            guard try await store.read({ try $0.account(emailKey: Account.key(of: email)) }) == nil else {
                throw emailTaken
            }
            let hash = try PasswordHash.make(
                try password.read(), cost: try dataOptions.settings().passwordCost())
            let account = try await store.write {
                try $0.insertAccount(.random(), email: email, passwordHash: hash, creationDate: .now)
            }
            guard let account else { throw emailTaken }
            Terminal.printLine("Created account \(account.uniqueID) for \(account.email).")
        }

        private var emailTaken: Failure { Failure("An account with the e-mail address \(email) already exists.") }
    }
}

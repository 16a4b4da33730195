import ArgumentParser
import HesperModel
import HesperServer
import HesperStore

extension AccountCommand {
    /// `hesper account create EMAIL`
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make an account, whatever the sign-up policy. Makes the data folder too if there is none.")

        @Argument(help: "The e-mail address to sign in with.") var email: String
        @OptionGroup var password: PasswordOptions
        @OptionGroup var dataOptions: DataOptions

        func validate() throws {
            guard Account.isEmail(email) else {
                throw ValidationError("\"\(email)\" is not an e-mail address, such as ada@example.org.")
            }
        }

        func run() async throws {
            try await dataOptions.withStore(making: true, create)
        }

        private func create(in store: any Store) async throws {
            let email = email
            // Asked before the password is: nobody types it in vain.
            guard try await store.read({ try $0.account(emailKey: Account.key(of: email)) }) == nil else { throw taken }
            let hash = try PasswordHash.make(
                try password.read(), cost: try dataOptions.settings().passwordCost())
            let made = try await store.write {
                try $0.insertAccount(.random(), email: email, passwordHash: hash, creationDate: .now)
            }
            guard let made else { throw taken }
            Terminal.say("Made account \(made.uniqueID) for \(made.email).")
        }

        private var taken: Failure { Failure("There is an account for \(email) already.") }
    }
}

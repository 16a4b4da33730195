import ArgumentParser
import HesperModel
import HesperStore

/// `hesper account …`
struct AccountCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account", abstract: "Make, list, show and delete accounts, and set a new password.",
        subcommands: [Create.self, List.self, Show.self, Delete.self, ResetPassword.self])
}

extension Snapshot {
    /// The account with this e-mail address.
    /// - Throws: ``Failure`` if there is none.
    func account(of email: String) throws -> Account {
        guard let account = try account(emailKey: Account.key(of: email)) else {
            throw Failure("There is no account for \(email).")
        }
        return account
    }
}

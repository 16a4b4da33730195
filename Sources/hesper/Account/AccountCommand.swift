import ArgumentParser
import HesperModel
import HesperStore

/// The command `hesper account …`.
struct AccountCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account",
        abstract:
            "Create, list, show, limit, disable and delete accounts, invite people, reset passwords, and manage access tokens.",
        subcommands: [
            Create.self, Invite.self, List.self, Show.self, Delete.self, ResetPassword.self, SetPassword.self,
            SetQuota.self, Disable.self, Enable.self, Token.self,
        ])
}

extension Snapshot {
    /// The account with an e-mail address.
    /// - Throws: ``Failure`` if there is no such account.
    func account(of email: String) throws -> Account {
        guard let account = try account(emailKey: Account.key(of: email)) else {
            throw Failure("No account has the e-mail address \(email).")
        }
        return account
    }
}

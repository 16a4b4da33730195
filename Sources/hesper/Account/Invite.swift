import ArgumentParser
import HesperModel
import HesperServer
import HesperStore

extension AccountCommand {
    /// The command `hesper account invite [EMAIL]`.
    struct Invite: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print an invitation link to create one account. It expires after seven days.",
            discussion: "The link works with every sign-up policy (--sign-up).")

        @Argument(help: "The e-mail address of the new account (default: any).") var email: String?
        @OptionGroup var linkOptions: LinkOptions
        @OptionGroup var dataOptions: DataOptions

        func validate() throws {
            guard let email, !Account.isEmail(email) else { return }
            throw ValidationError("\"\(email)\" is not an e-mail address. Example: ada@example.org")
        }

        func run() async throws {
            try await dataOptions.withStore(invite)
        }

        private func invite(in store: any Store) async throws {
            let (email, code, now) = (email, OneTimeCode.random(), Timestamp.now)
            let origin = try dataOptions.settings(linkOptions.flags).origin()
            let end = now.adding(Ticket.invitationLifetime)
            try await store.write { transaction in
                if let email, try transaction.account(emailKey: Account.key(of: email)) != nil {
                    throw Failure("An account with the e-mail address \(email) already exists.")
                }
                try transaction.issue(Ticket(.invitation, email: email, endDate: end), token: code.hash, at: now)
            }
            Terminal.printLine("Invitation\(email.map { " for \($0)" } ?? "") (valid once, until \(end)):")
            Terminal.printLine(CodeLink.signUp.url(code, at: origin))
        }
    }
}

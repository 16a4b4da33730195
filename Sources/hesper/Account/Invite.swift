import ArgumentParser
import HesperModel
import HesperServer
import HesperStore

extension AccountCommand {
    /// `hesper account invite [EMAIL]`
    struct Invite: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a link with which somebody makes an account, once, within seven days.",
            discussion: "It works whatever --sign-up says.")

        @Argument(help: "The e-mail address that the account is to have; left out, any.") var email: String?
        @OptionGroup var linkOptions: LinkOptions
        @OptionGroup var dataOptions: DataOptions

        func validate() throws {
            guard let email, !Account.isEmail(email) else { return }
            throw ValidationError("\"\(email)\" is not an e-mail address, such as ada@example.org.")
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
                    throw Failure("There is an account for \(email) already.")
                }
                try transaction.issue(Ticket(.invitation, email: email, endDate: end), token: code.hash, at: now)
            }
            Terminal.say("For an account\(email.map { " of \($0)" } ?? ""), once, until \(end):")
            Terminal.say(CodeLink.signUp.url(code, at: origin))
        }
    }
}

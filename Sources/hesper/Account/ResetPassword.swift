import ArgumentParser
import HesperModel
import HesperServer
import HesperStore

extension AccountCommand {
    /// `hesper account reset-password EMAIL`
    struct ResetPassword: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reset-password",
            abstract: "Print a link, and a code, with which somebody sets a new password, once, within a day.",
            discussion: "Until it is used, everything stays as it is. A new one makes the one before void.")

        @Argument(help: "The account's e-mail address.") var email: String
        @OptionGroup var linkOptions: LinkOptions
        @OptionGroup var dataOptions: DataOptions

        func run() async throws {
            try await dataOptions.withStore(reset)
        }

        private func reset(in store: any Store) async throws {
            let (email, code, now) = (email, OneTimeCode.random(), Timestamp.now)
            let origin = try dataOptions.settings(linkOptions.flags).origin()
            let end = now.adding(Ticket.resetLifetime)
            let account = try await store.write { transaction in
                let account = try transaction.account(of: email)
                try transaction.issue(
                    Ticket(.passwordReset, account: account.uniqueID, endDate: end), token: code.hash, at: now)
                return account
            }
            Terminal.say("For a new password of \(account.email), once, until \(end):")
            Terminal.say(CodeLink.reset.url(code, at: origin))
            Terminal.say("The same without a link: \(code.text), typed at \(origin)\(CodeLink.reset.path)")
        }
    }
}

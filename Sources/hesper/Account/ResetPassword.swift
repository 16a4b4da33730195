import ArgumentParser
import HesperModel
import HesperServer
import HesperStore

extension AccountCommand {
    /// The command `hesper account reset-password EMAIL`.
    struct ResetPassword: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reset-password",
            abstract: "Print a link and a code to set a new password. They work once and expire after one day.",
            discussion: "The old password works until the link is used. A new link invalidates the previous one.")

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
            Terminal.printLine("Password reset for \(account.email) (valid once, until \(end)):")
            Terminal.printLine(CodeLink.reset.url(code, at: origin))
            Terminal.printLine("Or enter the code \(code.text) at \(origin)\(CodeLink.reset.path)")
        }
    }
}

import ArgumentParser
import HesperModel
import HesperStore

/// `hesper check`
struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Fold every bag of edits again and compare it with what is kept.",
        discussion: """
            Compares objects, digests, tag names, members and terms of every account. Findings go to stdout, one a line; \
            the exit status is 1 if there is any.
            """)

    @OptionGroup var dataOptions: DataOptions

    func run() async throws {
        let store = try dataOptions.openStore()
        defer { try? store.close() }
        let accounts = try await store.read { try $0.accounts() }
        var progress = ProgressBar(total: accounts.count, what: "accounts checked")
        var findings = 0
        for account in accounts {
            findings += try await store.read { snapshot in
                var count = 0
                try snapshot.inconsistencies(in: account.scope) { finding in
                    count += 1
                    Terminal.say("\(account.email): \(finding)")
                }
                return count
            }
            progress.advance()
        }
        progress.end()
        let checked = "Checked \(accounts.count) \(accounts.count == 1 ? "account" : "accounts")"
        guard findings == 0 else {
            Terminal.say("\(checked): \(findings) \(findings == 1 ? "finding" : "findings").")
            throw ExitCode(Failure.Kind.failed.rawValue)
        }
        Terminal.say("\(checked): all is well.")
    }
}

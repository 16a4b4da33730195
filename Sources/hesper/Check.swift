import ArgumentParser
import HesperModel
import HesperStore

/// `hesper check`
struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check everything that is stored for damage.",
        discussion: """
            Checks the database's file and the checksums of all edits, compares objects, digests, tag names, members and \
            terms of every account, then reads the bytes of all attachments and compares their SHA-256. Findings go to stdout, one a line; the exit status is 1 if there is any.
            """)

    @Flag(name: .customLong("no-attachments"), help: "Leave the bytes of attachments unread.")
    var leavesAttachments = false

    @OptionGroup var dataOptions: DataOptions

    func run() async throws {
        try await dataOptions.withStore(check)
    }

    private func check(_ store: any Store) async throws {
        let accounts = try await store.read { try $0.accounts() }
        var progress = ProgressBar(total: accounts.count, what: "accounts checked")
        let damage = try await store.fileDamage()
        for finding in damage { Terminal.say("Database: \(finding)") }
        var findings = damage.count
        for account in accounts {
            do {
                findings += try await store.read { snapshot in
                    var count = 0
                    try snapshot.inconsistencies(in: account.scope) { finding in
                        count += 1
                        Terminal.say("\(account.email): \(finding)")
                    }
                    return count
                }
            } catch StoreError.damaged(let reason) {
                Terminal.say("\(account.email): The rest of the account cannot be read: \(reason)")
                findings += 1
            }
            progress.advance()
        }
        progress.end()
        if !leavesAttachments { findings += try await checkBlobs(of: accounts, in: store) }
        let checked = "Checked \(accounts.count) \(accounts.count == 1 ? "account" : "accounts")"
        guard findings == 0 else {
            Terminal.say("\(checked): \(findings) \(findings == 1 ? "finding" : "findings").")
            throw ExitCode(Failure.Kind.failed.rawValue)
        }
        Terminal.say("\(checked): all is well.")
    }

    /// - Returns: how many findings there are.
    private func checkBlobs(of accounts: [Account], in store: any Store) async throws -> Int {
        let check = BlobCheck(store: store, blobs: try await dataOptions.openBlobs())
        let total = try await store.read { snapshot in
            var total = 0
            for account in accounts { try snapshot.blobs(of: account.scope) { _ in total += 1 } }
            return total
        }
        var progress = ProgressBar(total: total, what: "attachments read")
        var findings = 0
        for account in accounts {
            for finding in try await check.findings(in: account.scope, &progress) {
                progress.clear()
                Terminal.say("\(account.email): \(finding)")
                findings += 1
            }
        }
        progress.end()
        let orphans = try await check.orphans()
        if orphans.count > 0 {
            let files = orphans.count == 1 ? "1 file" : "\(orphans.count) files"
            Terminal.say(
                "\(files) with \(orphans.byteCount) bytes belong to no attachment. The server removes those that it "
                    + "wrote itself after 30 days.")
        }
        return findings
    }
}

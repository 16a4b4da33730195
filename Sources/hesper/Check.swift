import ArgumentParser
import HesperModel
import HesperStore

/// The command `hesper check`.
struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check the database and all attachments for damage.",
        discussion: """
            Checks the database file and the checksums of all edits. For every account, computes the objects, digests, tag \
            names, search terms, and references to tags and attachments from the edits, and compares them with those in the \
            database. Reads all attachments and compares their SHA-256. Findings are printed to stdout, one per line. The exit \
            status is 1 if there are any.
            """)

    @Flag(name: .customLong("no-attachments"), help: "Do not read the attachments.")
    var skipsAttachments = false

    @OptionGroup var dataOptions: DataOptions

    func run() async throws {
        try await dataOptions.withStore(check)
    }

    private func check(_ store: any Store) async throws {
        let accounts = try await store.read { try $0.accounts() }
        var progress = ProgressBar(total: accounts.count, label: "accounts checked")
        let damage = try await store.fileDamage()
        for finding in damage { Terminal.printLine("Database: \(finding)") }
        var findings = damage.count
        for account in accounts {
            do {
                findings += try await store.read { snapshot in
                    var count = 0
                    try snapshot.inconsistencies(in: account.scope) { finding in
                        count += 1
                        Terminal.printLine("\(account.email): \(finding)")
                    }
                    return count
                }
            } catch StoreError.damaged(let reason) {
                Terminal.printLine("\(account.email): Cannot read the rest of the account: \(reason)")
                findings += 1
            }
            progress.advance()
        }
        progress.end()
        if !skipsAttachments { findings += try await checkBlobs(of: accounts, in: store) }
        let checked = "Checked \(accounts.count) \(accounts.count == 1 ? "account" : "accounts")"
        guard findings == 0 else {
            Terminal.printLine("\(checked): \(findings) \(findings == 1 ? "finding" : "findings").")
            throw ExitCode(Failure.Kind.failed.rawValue)
        }
        Terminal.printLine("\(checked): no problems found.")
    }

    /// Compares the attachments of all accounts with their sizes and hashes, and prints the findings.
    /// - Returns: the number of findings.
    private func checkBlobs(of accounts: [Account], in store: any Store) async throws -> Int {
        let check = BlobCheck(store: store, blobs: try await dataOptions.openBlobs())
        let total = try await store.read { snapshot in
            var total = 0
            for account in accounts { try snapshot.blobs(of: account.scope) { _ in total += 1 } }
            return total
        }
        var progress = ProgressBar(total: total, label: "attachments read")
        var findings = 0
        for account in accounts {
            for finding in try await check.findings(in: account.scope, &progress) {
                progress.clear()
                Terminal.printLine("\(account.email): \(finding)")
                findings += 1
            }
        }
        progress.end()
        let orphans = try await check.orphans()
        if orphans.count > 0 {
            let files = orphans.count == 1 ? "1 file" : "\(orphans.count) files"
            Terminal.printLine(
                "\(files) with \(orphans.byteCount) bytes not assigned to any attachment. After 30 days, the server "
                    + "removes those that it wrote itself.")
        }
        return findings
    }
}

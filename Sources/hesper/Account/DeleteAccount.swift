import ArgumentParser
import HesperModel
import HesperStore

extension AccountCommand {
    /// The command `hesper account delete EMAIL`.
    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete an account permanently, with all its notes, attachments and devices.")

        @Argument(help: "The account's e-mail address.") var email: String
        @Flag(help: "Do not ask for confirmation.") var yes = false
        @OptionGroup var dataOptions: DataOptions

        func run() async throws {
            try await dataOptions.withStore(delete)
        }

        private func delete(in store: any Store) async throws {
            let email = email
            let (account, usage) = try await store.read { snapshot in
                let account = try snapshot.account(of: email)
                return (account, try snapshot.usage(of: account.scope))
            }
            if !yes { try confirm(account, usage) }
            let blobs = try await dataOptions.openBlobs()
            let claim = BlobClaim(store: store, blobs: blobs)
            // The marker is a small file in the storage of the attachments. It contains the ID of the installation. If it does not
            // exist yet, it is created before the account is deleted. If this is the last account, the database is empty until
            // its attachments have been removed, too. An empty database and attachments without a marker look like a lost database.
            if try await claim.removalBlocker() == .unmarked { _ = try await claim.renew() }
            try await store.write { try $0.deleteAccount(account.uniqueID) }
            store.signals?.send([.sessionsChanged(account.scope)])
            Terminal.printLine("Deleted the account \(account.email) with \(usage.objects) objects.")
            do {
                try await removeBlobs(blobs, store, claim)
            } catch let blocker as RemovalBlocker {
                throw Failure(
                    "The account is deleted, but the data of its attachments is still stored. "
                        + "hesper serve removes it later. \(blocker)")
            } catch {
                // The account is already deleted. A server removes the remaining blobs later.
                throw Failure(
                    "The account is deleted, but the data of its attachments is still stored. "
                        + "hesper serve removes it later. \(error)")
            }
            do {
                try await store.scrub()
            } catch {
                throw Failure(
                    "The account is deleted, but some of its text may remain in a database file until the server restarts: \(error)"
                )
            }
        }

        /// Removes the bytes of attachments that no account needs any more. A running server may remove them at the same time,
        /// which is harmless.
        private func removeBlobs(
            _ blobs: any BlobStore, _ store: any Store, _ claim: BlobClaim
        ) async throws {
            while true {
                let names = try await store.blobsToRemove(limit: Delete.batch)
                guard !names.isEmpty else { return }
                if let blocker = try await claim.removalBlocker(), blocker.isOfMarker { throw blocker }
                for name in names { try await blobs.remove(name) }
                try await store.write { transaction in
                    for name in names { try transaction.forgetRemovedBlob(name) }
                }
            }
        }

        private static let batch = 500

        private func confirm(_ account: Account, _ usage: Usage) throws {
            guard Terminal.readsKeyboard else {
                throw Failure("Standard input is not a terminal. Add --yes to delete the account permanently.", .usage)
            }
            let answer = Terminal.prompt(
                "This permanently deletes \(usage.objects) objects. Type \(account.email) to confirm: ")
            guard answer == account.email else { throw Failure("Nothing was deleted.") }
        }
    }
}

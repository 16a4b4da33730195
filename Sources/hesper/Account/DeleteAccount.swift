import ArgumentParser
import HesperModel
import HesperStore

extension AccountCommand {
    /// `hesper account delete EMAIL`
    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Erase an account with all its notes, attachments and devices, for ever.")

        @Argument(help: "The account's e-mail address.") var email: String
        @Flag(help: "Do it without asking.") var yes = false
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
            // While the account still shows that the bytes are this database's.
            if try await claim.removalBlocker() == .unmarked { _ = try await claim.renew() }
            try await store.write { try $0.deleteAccount(account.uniqueID) }
            store.signals?.send([.sessionsChanged(account.scope)])
            Terminal.say("Erased the account of \(account.email) with \(usage.objects) objects.")
            do {
                try await removeBlobs(blobs, store, claim)
            } catch let blocker as RemovalBlocker {
                throw Failure(
                    "The bytes of its attachments are still stored; hesper serve removes them later. \(blocker)")
            } catch {
                // They are nobody's by now, and a server goes on with them.
                throw Failure(
                    "The bytes of its attachments are still stored; hesper serve removes them later. \(error)")
            }
            do {
                try await store.scrub()
            } catch {
                throw Failure(
                    "It is erased, but words of it may be in a file until the server is started again: \(error)")
            }
        }

        /// The bytes, which the store has let go of. A server that runs does the same; twice does no harm.
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
                throw Failure("Erasing an account is for ever: add --yes where nobody can be asked.", .usage)
            }
            let answer = Terminal.ask(
                "This erases \(usage.objects) objects for ever. Type \(account.email) to go on: ")
            guard answer == account.email else { throw Failure("Nothing was erased.") }
        }
    }
}

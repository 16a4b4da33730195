import HesperModel
import HesperStore
import NIOConcurrencyHelpers

/// The two queries for an account.
private let queries: [@Sendable (any Snapshot, Account) throws -> Account?] = [
    { try $0.account($1.uniqueID) }, { try $0.account(emailKey: Account.key(of: $1.email)) },
]

extension StoreContract {
    /// Transactions that depend on an account while another transaction changes it.
    static let passwordRaceCases: [Case] = [
        Case("a device that signs in during a change of the password is signed out") { (client: Client) in
            for query in queries {
                let token = Client.token()
                try await client.signIn(token, by: query) { transaction in
                    try transaction.changePassword(to: "scrypt:new", of: client.account.uniqueID, signingOut: .all)
                }
                try expect(try await client.store.session(of: token), is: nil)
            }
            try expect(
                try await client.read { try $0.account(client.account.uniqueID)?.passwordHash }, is: "scrypt:new")
        },
        Case("a sign-in during the deletion of the account creates no session and does not fail") { (client: Client) in
            let token = Client.token()
            try await client.signIn(token, by: queries[0]) { try $0.deleteAccount(client.account.uniqueID) }
            try expect(try await client.store.session(of: token), is: nil)
        },
        Case("a transaction does not read a password that is being changed") { (client: Client) in
            for (index, query) in queries.enumerated() {
                let (race, hash) = (Race(), "scrypt:\(index)")
                async let changing: Void = client.store.write { transaction in
                    defer { race.begin() }
                    try transaction.changePassword(to: hash, of: client.account.uniqueID, signingOut: .all)
                    // A query makes the store execute the queued statements.
                    _ = try transaction.account(client.account.uniqueID)
                    race.wait()
                }
                await race.hasBegun()
                let found = try await client.store.write { try query($0, client.account) }
                race.end()
                try await changing
                try expect(found?.passwordHash, is: hash)
            }
        },
    ]
}

/// Coordinates two transactions, of which one begins first.
private final class Race: Sendable {
    private let begun = AsyncStream.makeStream(of: Void.self)
    private let isOver = NIOLockedValueBox(false)

    /// Signals that the first transaction has begun.
    func begin() { begun.continuation.finish() }
    func hasBegun() async { for await _ in begun.stream {} }
    /// Signals that the second transaction has ended.
    func end() { isOver.withLockedValue { $0 = true } }

    /// Blocks the first transaction's thread until the second has ended, for at most half a second, as the second may have to
    /// wait for it.
    func wait() {
        begin()
        for _ in 0..<500 where !isOver.withLockedValue({ $0 }) { Pause.millisecond() }
    }
}

extension Client {
    /// Signs a device in to the account that `query` returns, while another transaction runs `change`.
    fileprivate func signIn(
        _ token: TokenHash, by query: @escaping @Sendable (any Snapshot, Account) throws -> Account?,
        during change: @escaping @Sendable (any Transaction) throws -> Void
    ) async throws {
        let race = Race()
        let phone = Client.device(of: account.uniqueID, name: "phone")
        async let signingIn: Void = store.write { transaction in
            defer { race.begin() }
            _ = try unwrap(try query(transaction, account), "the account")
            race.wait()
            try transaction.insert(phone, token: token)
        }
        await race.hasBegun()
        try await store.write(change)
        race.end()
        try await signingIn
    }
}

import HesperModel
import HesperStore
import NIOConcurrencyHelpers

/// The two ways to ask for an account.
private let questions: [@Sendable (any Snapshot, Account) throws -> Account?] = [
    { try $0.account($1.uniqueID) }, { try $0.account(emailKey: Account.key(of: $1.email)) },
]

extension StoreContract {
    /// What is decided by an account while somebody else changes it.
    static let passwordRaceCases: [Case] = [
        Case("signs out again who signs in with a password while another is set") { (desk: Desk) in
            for question in questions {
                let token = Desk.token()
                try await desk.signIn(token, by: question) { transaction in
                    try transaction.changePassword(to: "scrypt:new", of: desk.account.uniqueID, signingOut: .all)
                }
                try expect(try await desk.store.session(of: token), is: nil)
            }
            try expect(try await desk.read { try $0.account(desk.account.uniqueID)?.passwordHash }, is: "scrypt:new")
        },
        Case("signs nobody in to an account that is erased meanwhile, nor fails") { (desk: Desk) in
            let token = Desk.token()
            try await desk.signIn(token, by: questions[0]) { try $0.deleteAccount(desk.account.uniqueID) }
            try expect(try await desk.store.session(of: token), is: nil)
        },
        Case("decides by no password that another is just being set in the place of") { (desk: Desk) in
            for (index, question) in questions.enumerated() {
                let (race, hash) = (Race(), "scrypt:\(index)")
                async let changing: Void = desk.store.write { transaction in
                    defer { race.begin() }
                    try transaction.changePassword(to: hash, of: desk.account.uniqueID, signingOut: .all)
                    // Asked for something, a store does what came before.
                    _ = try transaction.account(desk.account.uniqueID)
                    race.wait()
                }
                await race.hasBegun()
                let found = try await desk.store.write { try question($0, desk.account) }
                race.end()
                try await changing
                try expect(found?.passwordHash, is: hash)
            }
        },
    ]
}

/// Two transactions of which one begins first.
private final class Race: Sendable {
    private let begun = AsyncStream.makeStream(of: Void.self)
    private let isOver = NIOLockedValueBox(false)

    /// Says that the first is under way.
    func begin() { begun.continuation.finish() }
    func hasBegun() async { for await _ in begun.stream {} }
    /// Says that the second is done.
    func end() { isOver.withLockedValue { $0 = true } }

    /// Waits on the thread, in the first, until the second is done; half a second at most, as that one is to wait for this.
    func wait() {
        begin()
        for _ in 0..<500 where !isOver.withLockedValue({ $0 }) { Pause.millisecond() }
    }
}

extension Desk {
    /// Signs a device in to the account that `question` finds, while somebody does `change`.
    fileprivate func signIn(
        _ token: TokenHash, by question: @escaping @Sendable (any Snapshot, Account) throws -> Account?,
        during change: @escaping @Sendable (any Transaction) throws -> Void
    ) async throws {
        let race = Race()
        let phone = Desk.device(of: account.uniqueID, name: "phone")
        async let signingIn: Void = store.write { transaction in
            defer { race.begin() }
            _ = try unwrap(try question(transaction, account), "the account")
            race.wait()
            try transaction.insert(phone, token: token)
        }
        await race.hasBegun()
        try await store.write(change)
        race.end()
        try await signingIn
    }
}

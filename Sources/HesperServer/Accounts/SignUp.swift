import HesperModel
import HesperStore

/// Makes accounts, for the API and for the page behind the link that makes the first one.
struct SignUp: Sendable {
    let store: any Store
    let policy: SignUpPolicy
    let passwords: Passwords
    let gate: SignInGate
    let firstAccount: FirstAccount

    /// - Parameters:
    ///   - invitation: the secret of the link that makes the first account, where sign-up is closed.
    ///   - finish: what else belongs into the transaction.
    /// - Throws: `sign-up-closed`, `email-taken`, `too-many-requests`.
    func callAsFunction<T: Sendable>(
        email: String, password: String, invitation: String?, from address: ClientAddress,
        finish: @escaping @Sendable (any Transaction, Account) throws -> T
    ) async throws -> T {
        let isInvited = invitation.map(firstAccount.accepts) ?? false
        guard policy == .open || isInvited else { throw SignUp.closed }
        try gate.signUp(from: address)
        // An address that is taken is not worth the work of a hash; the transaction decides.
        let key = Account.key(of: email)
        if try await store.read({ try $0.account(emailKey: key) }) != nil { throw SignUp.taken(email) }
        let hash = try await passwords.hash(password)
        let mustBeFirst = policy != .open
        return try await store.write { transaction in
            // The invitation is for the first account: once there is one, made in whatever way, it is used up.
            if mustBeFirst, try !transaction.accounts().isEmpty { throw SignUp.closed }
            let account = try transaction.insertAccount(
                .random(), email: email, passwordHash: hash, creationDate: .now)
            guard let account else { throw SignUp.taken(email) }
            return try finish(transaction, account)
        }
    }

    static let closed = Problem(.signUpClosed, "Ask whoever runs this server for an account.")

    private static func taken(_ email: String) -> Problem {
        Problem(.emailTaken, "There is an account for \(email). Sign in instead.", at: "/email")
    }
}

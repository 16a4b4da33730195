import HesperModel
import HesperStore

/// Creates accounts, if the sign-up policy or an invitation permits it.
struct SignUp: Sendable {
    let store: any Store
    let settings: ServerSettings
    let passwords: Passwords
    let gate: SignInGate
    let firstAccount: FirstAccount
    let emails: EmailGate

    /// The reason why an account may be created.
    private enum Grant: Sendable {
        /// The sign-up policy allows anyone to create an account.
        case open
        /// The request has the secret of the link for the first account. The secret is valid only while there is no account.
        case first
        /// The request has an invitation, which is used up when the account is created.
        case invited(TokenHash)
    }

    /// Creates an account.
    /// - Parameters:
    ///   - invitation: the code of an invitation, or the secret of the link for the first account.
    ///   - finish: makes further writes in the same transaction.
    /// - Throws: `sign-up-closed`, `forbidden`, `email-taken`, `too-many-requests`.
    func callAsFunction<T: Sendable>(
        email: String, password: String, invitation: String?, for request: APIRequest,
        finish: @escaping @Sendable (any Transaction, Account) throws -> T
    ) async throws -> T {
        let grant = try await grant(invitation, for: request)
        try gate.signUp(from: request.address)
        // Looks up the address before the password is hashed, because hashing is expensive. The transaction checks the address
        // again.
        let key = Account.key(of: email)
        if try await store.read({ try $0.account(emailKey: key) }) != nil { throw SignUp.emailTaken(email) }
        let hash = try await passwords.hash(password)
        let refusal = refusal
        let result: T = try await store.write { transaction in
            switch grant {
            case .open: break
            // The link for the first account is invalid as soon as there is an account.
            case .first: guard try !transaction.hasAccount() else { throw refusal }
            case .invited(let token):
                guard let ticket = try transaction.useTicket(token, for: .invitation, at: .now) else { throw refusal }
                if let invited = ticket.email, Account.key(of: invited) != key { throw SignUp.otherEmail }
            }
            let account = try transaction.insertAccount(
                .random(), email: email, passwordHash: hash, creationDate: .now)
            guard let account else { throw SignUp.emailTaken(email) }
            return try finish(transaction, account)
        }
        emails.sendVerification(to: email)
        return result
    }

    /// Whether an invitation is valid. A wrong code counts as a failed attempt.
    /// - Throws: `too-many-requests`.
    func isInvited(by invitation: String, from address: ClientAddress) async throws -> Bool {
        if firstAccount.accepts(invitation) { return try await store.read { try !$0.hasAccount() } }
        return try await ticket(invitation, from: address) != nil
    }

    private func grant(_ invitation: String?, for request: APIRequest) async throws -> Grant {
        // The policy depends on the request, because sign-up may be open only to requests from this machine.
        let policy = settings.signUp(for: request)
        if let invitation {
            if policy != .open, firstAccount.accepts(invitation) { return .first }
            if let token = try await ticket(invitation, from: request.address) { return .invited(token) }
        }
        guard policy == .open else { throw refusal }
        return .open
    }

    /// The hash of an invitation; nil if the invitation is invalid.
    private func ticket(_ invitation: String, from address: ClientAddress) async throws -> TokenHash? {
        guard let token = OneTimeCode(invitation)?.hash else { return nil }
        let isGood = try await gate.attempt(from: address) {
            try await store.read { try $0.ticket(token, for: .invitation, at: .now) } != nil
        }
        return isGood ? token : nil
    }

    private var refusal: Problem {
        switch settings.signUp {
        case .open: SignUp.localOnly
        case .invite: Problem(.signUpClosed, "Ask the operator of this server for an invitation.")
        case .closed: Problem(.signUpClosed, "Ask the operator of this server for an account.")
        }
    }

    private static let localOnly = Problem(
        .signUpClosed,
        "Accounts can be created only on the server's own machine, at http://localhost with the server's port. To allow "
            + "sign-up from elsewhere, start the server with --sign-up open.")

    private static let otherEmail = Problem(
        .forbidden, "The invitation is for another e-mail address.", at: "/email")

    private static func emailTaken(_ email: String) -> Problem {
        Problem(.emailTaken, "An account for \(email) exists already. Sign in instead.", at: "/email")
    }
}

import HesperModel
import HesperStore

/// Makes accounts, by policy or by invitation.
struct SignUp: Sendable {
    let store: any Store
    let settings: ServerSettings
    let passwords: Passwords
    let gate: SignInGate
    let firstAccount: FirstAccount
    let desk: MailDesk

    /// Why somebody may make an account.
    private enum Grant: Sendable {
        case open
        /// By the link of a server without accounts.
        case first
        /// By an invitation, which is used up with it.
        case invited(TokenHash)
    }

    /// - Parameters:
    ///   - invitation: the code of an invitation, or the secret of the link that makes the first account.
    ///   - finish: what else belongs into the transaction.
    /// - Throws: `sign-up-closed`, `forbidden`, `email-taken`, `too-many-requests`.
    func callAsFunction<T: Sendable>(
        email: String, password: String, invitation: String?, for call: Call,
        finish: @escaping @Sendable (any Transaction, Account) throws -> T
    ) async throws -> T {
        let grant = try await grant(invitation, for: call)
        try gate.signUp(from: call.address)
        // An address that is taken is not worth the work of a hash; the transaction decides.
        let key = Account.key(of: email)
        if try await store.read({ try $0.account(emailKey: key) }) != nil { throw SignUp.taken(email) }
        let hash = try await passwords.hash(password)
        let refusal = refusal
        let made: T = try await store.write { transaction in
            switch grant {
            case .open: break
            // Once there is an account, made in whatever way, that link is used up.
            case .first: guard try transaction.accounts().isEmpty else { throw refusal }
            case .invited(let token):
                guard let ticket = try transaction.useTicket(token, for: .invitation, at: .now) else { throw refusal }
                if let invited = ticket.email, Account.key(of: invited) != key { throw SignUp.anothers }
            }
            let account = try transaction.insertAccount(
                .random(), email: email, passwordHash: hash, creationDate: .now)
            guard let account else { throw SignUp.taken(email) }
            return try finish(transaction, account)
        }
        desk.welcome(email)
        return made
    }

    /// Whether an invitation holds; wrong ones are counted.
    /// - Throws: `too-many-requests`.
    func isInvited(by invitation: String, from address: ClientAddress) async throws -> Bool {
        if firstAccount.accepts(invitation) { return try await store.read { try $0.accounts() }.isEmpty }
        return try await ticket(invitation, from: address) != nil
    }

    private func grant(_ invitation: String?, for call: Call) async throws -> Grant {
        // Sign-up may be open to this machine alone.
        let policy = settings.signUp(for: call)
        if let invitation {
            if policy != .open, firstAccount.accepts(invitation) { return .first }
            if let token = try await ticket(invitation, from: call.address) { return .invited(token) }
        }
        guard policy == .open else { throw refusal }
        return .open
    }

    /// The hash of an invitation that holds.
    private func ticket(_ invitation: String, from address: ClientAddress) async throws -> TokenHash? {
        guard let token = OneTimeCode(invitation)?.hash else { return nil }
        let isGood = try await gate.attempt(from: address) {
            try await store.read { try $0.ticket(token, for: .invitation, at: .now) } != nil
        }
        return isGood ? token : nil
    }

    private var refusal: Problem {
        switch settings.signUp {
        case .open: SignUp.elsewhere
        case .invite: Problem(.signUpClosed, "Ask the operator of this server for an invitation.")
        case .closed: Problem(.signUpClosed, "Ask the operator of this server for an account.")
        }
    }

    private static let elsewhere = Problem(
        .signUpClosed,
        "Here, an account is made on the server's own machine, at http://localhost and its port. To let others make "
            + "accounts, start the server with --sign-up open.")

    private static let anothers = Problem(
        .forbidden, "The invitation is for another e-mail address.", at: "/email")

    private static func taken(_ email: String) -> Problem {
        Problem(.emailTaken, "There is an account for \(email). Sign in instead.", at: "/email")
    }
}

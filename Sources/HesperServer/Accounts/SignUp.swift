import HesperModel
import HesperStore

/// Creates accounts, by sign-up policy or by invitation.
struct SignUp: Sendable {
    let store: any Store
    let settings: ServerSettings
    let passwords: Passwords
    let gate: SignInGate
    let firstAccount: FirstAccount
    let emails: EmailGate

    /// Why an account may be created.
    private enum Grant: Sendable {
        case open
        /// By the link of a server without accounts.
        case first
        /// By an invitation, which this consumes.
        case invited(TokenHash)
    }

    /// - Parameters:
    ///   - invitation: the code of an invitation, or the secret of the link for the first account.
    ///   - finish: further writes in the same transaction.
    /// - Throws: `sign-up-closed`, `forbidden`, `email-taken`, `too-many-requests`.
    func callAsFunction<T: Sendable>(
        email: String, password: String, invitation: String?, for request: APIRequest,
        finish: @escaping @Sendable (any Transaction, Account) throws -> T
    ) async throws -> T {
        let grant = try await grant(invitation, for: request)
        try gate.signUp(from: request.address)
        // Avoids the cost of a hash if the address is taken. The transaction checks again.
        let key = Account.key(of: email)
        if try await store.read({ try $0.account(emailKey: key) }) != nil { throw SignUp.emailTaken(email) }
        let hash = try await passwords.hash(password)
        let refusal = refusal
        let result: T = try await store.write { transaction in
            switch grant {
            case .open: break
            // The link is invalid once there is any account.
            case .first: guard try transaction.accounts().isEmpty else { throw refusal }
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

    /// Whether an invitation is valid. Invalid ones are counted as failed attempts.
    /// - Throws: `too-many-requests`.
    func isInvited(by invitation: String, from address: ClientAddress) async throws -> Bool {
        if firstAccount.accepts(invitation) { return try await store.read { try $0.accounts() }.isEmpty }
        return try await ticket(invitation, from: address) != nil
    }

    private func grant(_ invitation: String?, for request: APIRequest) async throws -> Grant {
        // Sign-up may be open only to this machine.
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
        "Accounts can be created only on the server's own machine, at http://localhost with the server's port. To allow it from "
            + "elsewhere, start the server with --sign-up open.")

    private static let otherEmail = Problem(
        .forbidden, "The invitation is for another e-mail address.", at: "/email")

    private static func emailTaken(_ email: String) -> Problem {
        Problem(.emailTaken, "An account for \(email) exists already. Sign in instead.", at: "/email")
    }
}

import HesperModel
import HesperStore

/// Checks the password of a signed-in user again, before a change that grants or removes access to the account.
///
///     try await confirmation.check(password, of: account, request, at: "/currentPassword")
///     try await store.write { transaction in
///         try PasswordConfirmation.check(account, session, in: transaction, at: "/currentPassword")
///         …
///     }
struct PasswordConfirmation: Sendable {
    let gate: SignInGate
    let passwords: Passwords

    /// Checks the password of the account. ``SignInGate`` limits the attempts.
    /// - Throws: `forbidden` if the password is wrong, `too-many-requests` after too many attempts.
    func check(_ password: String, of account: Account, _ request: APIRequest, at pointer: String) async throws {
        let isRight = try await gate.attempt(email: account.email, from: request.address) {
            try await passwords.matches(password, account.passwordHash)
        }
        guard isRight else { throw PasswordConfirmation.wrongPassword(at: pointer) }
    }

    /// Checks in the transaction that the device is still signed in, and that the password hash is still the same. Both may have
    /// changed since the password was checked.
    /// - Throws: `unauthenticated` if the device was signed out; `forbidden` if the password was changed.
    static func check(
        _ account: Account, _ session: Session, in transaction: any Transaction, at pointer: String
    ) throws {
        // Reads the account first, because this locks the account against concurrent changes.
        let now = try transaction.account(account.uniqueID)
        guard try transaction.device(session.device.node, of: account.uniqueID) != nil else {
            throw Authenticator.unauthenticated
        }
        guard now?.passwordHash == account.passwordHash else { throw wrongPassword(at: pointer) }
    }

    private static func wrongPassword(at pointer: String) -> Problem {
        Problem(.forbidden, "The password is wrong.", at: pointer)
    }
}

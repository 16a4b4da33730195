import HesperModel

/// A single-use permission for the holder of a code: to set a new password, to create an account, or to verify an e-mail address.
/// The store has only the hash of the code.
public struct Ticket: Sendable, Equatable {
    public enum Purpose: String, Sendable, CaseIterable {
        /// Created by the operator.
        case passwordReset = "password-reset"
        /// Sent by e-mail. Anyone can request one for an address.
        case mailedPasswordReset = "mailed-password-reset"
        case invitation
        case emailVerification = "email-verification"

        /// The purposes of tickets that are valid for this purpose, and that a new ticket of this purpose replaces. A ticket
        /// sent by e-mail, which anyone can request, must not replace one that the operator created.
        var acceptedPurposes: [Purpose] {
            self == .passwordReset ? [.passwordReset, .mailedPasswordReset] : [self]
        }
    }

    public let purpose: Purpose
    /// The account whose password or address it is for; nil for an invitation.
    public let account: UniqueID?
    /// The e-mail address that an invitation is for; nil for any address.
    public let email: String?
    /// The time at which it expires.
    public let endDate: Timestamp

    public init(_ purpose: Purpose, account: UniqueID? = nil, email: String? = nil, endDate: Timestamp) {
        self.purpose = purpose
        self.account = account
        self.email = email
        self.endDate = endDate
    }

    /// The lifetime of a password reset link from the operator, in milliseconds. It is long because the link is passed on by
    /// hand.
    public static let resetLifetime = Timestamp.day
    /// The lifetime of a password reset link sent by e-mail, in milliseconds.
    public static let mailedResetLifetime = Timestamp.hour
    /// The lifetime of a link that verifies an e-mail address, in milliseconds.
    public static let verificationLifetime = Timestamp.day
    /// The lifetime of an invitation, in milliseconds.
    public static let invitationLifetime = 7 * Timestamp.day

    public func isValid(for purpose: Purpose, at date: Timestamp) -> Bool {
        purpose.acceptedPurposes.contains(self.purpose) && date < endDate
    }
}

extension Snapshot {
    /// The ticket with this code, if it is valid for a purpose at `date`.
    public func ticket(_ token: TokenHash, for purpose: Ticket.Purpose, at date: Timestamp) throws -> Ticket? {
        try ticket(token).flatMap { $0.isValid(for: purpose, at: date) ? $0 : nil }
    }
}

extension Transaction {
    /// Creates a ticket. It replaces the account's tickets for the same purpose, and a ticket from the operator also replaces
    /// those sent by e-mail. All expired tickets are deleted.
    public func issue(_ ticket: Ticket, token: TokenHash, at date: Timestamp) throws {
        try deleteTickets(endedBy: date)
        if let account = ticket.account { try deleteTickets(acceptedFor: ticket.purpose, of: account) }
        try insert(ticket, token: token)
    }

    /// Uses a ticket, which deletes it. Of several concurrent uses of one code, only one succeeds.
    /// - Returns: nil if there is no ticket valid for this purpose.
    public func useTicket(_ token: TokenHash, for purpose: Ticket.Purpose, at date: Timestamp) throws -> Ticket? {
        guard let ticket = try ticket(token, for: purpose, at: date) else { return nil }
        // Lock the account before its ticket, in the same order as `issue`, to avoid a deadlock.
        if let account = ticket.account { _ = try self.account(account) }
        return try deleteTicket(token) ? ticket : nil
    }

    /// Uses a ticket to mark the e-mail address of its account as verified.
    /// - Returns: whether there was a valid ticket.
    public func verifyEmail(with token: TokenHash, at date: Timestamp) throws -> Bool {
        guard let account = try useTicket(token, for: .emailVerification, at: date)?.account else { return false }
        try setEmailVerificationDate(date, of: account)
        return true
    }

    /// Sets a password, deletes all password reset tickets of the account, and signs out devices.
    public func changePassword(to hash: String, of account: UniqueID, signingOut devices: DevicesToSignOut) throws {
        try setPasswordHash(hash, of: account)
        try deleteTickets(acceptedFor: .passwordReset, of: account)
        switch devices {
        case .none: break
        case .all: try deleteDevices(of: account, except: nil)
        case .others(let node): try deleteDevices(of: account, except: node)
        }
    }

    private func deleteTickets(acceptedFor purpose: Ticket.Purpose, of account: UniqueID) throws {
        for purpose in purpose.acceptedPurposes { try deleteTickets(for: purpose, of: account) }
    }
}

/// The devices that a change of the password signs out.
public enum DevicesToSignOut: Sendable {
    case none, all
    /// All devices except the one that changes the password.
    case others(than: NodeID)
}

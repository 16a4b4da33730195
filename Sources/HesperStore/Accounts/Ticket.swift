import HesperModel

/// A right that is good once, for whoever has its code: to set a new password, to make an account, or to say that an e-mail
/// address is theirs. The store knows the code's hash alone.
public struct Ticket: Sendable, Equatable {
    public enum Purpose: String, Sendable, CaseIterable {
        /// Made by the operator.
        case passwordReset = "password-reset"
        /// Sent by mail: whoever knows an e-mail address has such letters sent to it.
        case mailedPasswordReset = "mailed-password-reset"
        case invitation
        case emailVerification = "email-verification"

        /// Those that are good for what this one is, and void when there is a new one of this. What anybody can ask for is not to
        /// make void what the operator gave.
        var included: [Purpose] {
            self == .passwordReset ? [.passwordReset, .mailedPasswordReset] : [self]
        }
    }

    public let purpose: Purpose
    /// Whose password or address; nil for an invitation.
    public let account: UniqueID?
    /// The e-mail address that an invitation is for; nil for whoever comes.
    public let email: String?
    /// From when on it is good for nothing.
    public let endDate: Timestamp

    public init(_ purpose: Purpose, account: UniqueID? = nil, email: String? = nil, endDate: Timestamp) {
        self.purpose = purpose
        self.account = account
        self.email = email
        self.endDate = endDate
    }

    /// How long the operator's link to a new password is good, in milliseconds: it is passed on by hand.
    public static let resetLifetime = Timestamp.day
    /// How long a link to a new password is good that was sent by mail, in milliseconds: it is there in minutes.
    public static let mailedResetLifetime = Timestamp.hour
    /// How long a link is good that verifies an e-mail address, in milliseconds.
    public static let verificationLifetime = Timestamp.day
    /// How long an invitation is good, in milliseconds.
    public static let invitationLifetime = 7 * Timestamp.day

    public func isGood(for purpose: Purpose, at date: Timestamp) -> Bool {
        purpose.included.contains(self.purpose) && date < endDate
    }
}

extension Snapshot {
    /// A ticket that may still be used.
    public func ticket(_ token: TokenHash, for purpose: Ticket.Purpose, at date: Timestamp) throws -> Ticket? {
        try ticket(token).flatMap { $0.isGood(for: purpose, at: date) ? $0 : nil }
    }
}

extension Transaction {
    /// Makes a ticket, in place of those that its account has for the same purpose, and of mailed ones if it is the operator's; all
    /// that are over go.
    public func issue(_ ticket: Ticket, token: TokenHash, at date: Timestamp) throws {
        try deleteTickets(endedBy: date)
        if let account = ticket.account { try deleteTickets(goodFor: ticket.purpose, of: account) }
        try insert(ticket, token: token)
    }

    /// Uses a ticket up: of many at once who have its code, one gets it.
    /// - Returns: nil if there is none that is good for this.
    public func useTicket(_ token: TokenHash, for purpose: Ticket.Purpose, at date: Timestamp) throws -> Ticket? {
        guard let ticket = try ticket(token, for: purpose, at: date) else { return nil }
        // The account before its ticket, as whoever makes another does: neither waits for the other in a circle.
        if let account = ticket.account { _ = try self.account(account) }
        return try deleteTicket(token) ? ticket : nil
    }

    /// Uses a ticket up that verifies the e-mail address of its account.
    /// - Returns: whether there was one that is good for this.
    public func verifyEmail(with token: TokenHash, at date: Timestamp) throws -> Bool {
        guard let account = try useTicket(token, for: .emailVerification, at: date)?.account else { return false }
        try setEmailVerificationDate(date, of: account)
        return true
    }

    /// Sets a password. Links that would set another are void, and every device is signed out but those that may stay.
    public func changePassword(to hash: String, of account: UniqueID, signingOut devices: DevicesToSignOut) throws {
        try setPasswordHash(hash, of: account)
        try deleteTickets(goodFor: .passwordReset, of: account)
        switch devices {
        case .none: break
        case .all: try deleteDevices(of: account, except: nil)
        case .others(let node): try deleteDevices(of: account, except: node)
        }
    }

    private func deleteTickets(goodFor purpose: Ticket.Purpose, of account: UniqueID) throws {
        for purpose in purpose.included { try deleteTickets(for: purpose, of: account) }
    }
}

/// Whom a new password signs out.
public enum DevicesToSignOut: Sendable {
    case none, all
    /// All but the one that sets it.
    case others(than: NodeID)
}

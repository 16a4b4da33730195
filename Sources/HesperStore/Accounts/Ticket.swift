import HesperModel

/// A ticket allows the holder of a code to do one thing once: set a new password, create an account, or verify an e-mail address.
/// The store contains only the hash of the code.
public struct Ticket: Sendable, Equatable {
    public enum Purpose: String, Sendable, CaseIterable {
        /// A password reset link that was created by the operator.
        case passwordReset = "password-reset"
        /// A password reset link that was sent by e-mail. Anyone can request such a link for an address.
        case mailedPasswordReset = "mailed-password-reset"
        case invitation
        case emailVerification = "email-verification"

        /// The purposes of the tickets that can be used for this purpose. For example, a password can be reset with a link from the
        /// operator or with a link sent by e-mail.
        ///
        /// When a ticket is created, all earlier tickets of the account that have one of these purposes are deleted.
        /// `mailedPasswordReset` does not accept `passwordReset`, because anyone can request a link by e-mail. Such a request must
        /// not delete a link from the operator.
        var acceptedPurposes: [Purpose] {
            self == .passwordReset ? [.passwordReset, .mailedPasswordReset] : [self]
        }
    }

    public let purpose: Purpose
    /// The account whose password is reset or whose address is verified; nil for an invitation.
    public let account: UniqueID?
    /// The e-mail address to which an invitation is restricted; nil if the invitation is valid for any address.
    public let email: String?
    /// The time at which the ticket expires.
    public let endDate: Timestamp

    public init(_ purpose: Purpose, account: UniqueID? = nil, email: String? = nil, endDate: Timestamp) {
        self.purpose = purpose
        self.account = account
        self.email = email
        self.endDate = endDate
    }

    /// The lifetime of a password reset link that the operator creates, in milliseconds. It is long because the operator passes
    /// the link on to the user.
    public static let resetLifetime = Timestamp.day
    /// The lifetime of a password reset link that is sent by e-mail, in milliseconds.
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
    /// The ticket whose code has this hash; nil if there is none or if it is not valid for `purpose` at `date`.
    public func ticket(_ token: TokenHash, for purpose: Ticket.Purpose, at date: Timestamp) throws -> Ticket? {
        try ticket(token).flatMap { $0.isValid(for: purpose, at: date) ? $0 : nil }
    }
}

extension Transaction {
    /// Creates a ticket, and deletes the account's earlier tickets with the same purpose. If the ticket is a password reset link
    /// from the operator, password reset links that were sent to the account by e-mail are also deleted. In addition, deletes all
    /// expired tickets of all accounts.
    public func issue(_ ticket: Ticket, token: TokenHash, at date: Timestamp) throws {
        try deleteTickets(endedBy: date)
        if let account = ticket.account { try deleteTickets(acceptedFor: ticket.purpose, of: account) }
        try insert(ticket, token: token)
    }

    /// Uses a ticket and deletes it. If several requests use the same code concurrently, only one of them succeeds.
    /// - Returns: the ticket; nil if no ticket with this code is valid for `purpose`.
    public func useTicket(_ token: TokenHash, for purpose: Ticket.Purpose, at date: Timestamp) throws -> Ticket? {
        guard let ticket = try ticket(token, for: purpose, at: date) else { return nil }
        // The account is locked before its ticket, in the same order as in `issue`, to avoid a deadlock.
        if let account = ticket.account { _ = try self.account(account) }
        return try deleteTicket(token) ? ticket : nil
    }

    /// Uses a ticket to mark the e-mail address of the ticket's account as verified.
    /// - Returns: whether the ticket was valid.
    public func verifyEmail(with token: TokenHash, at date: Timestamp) throws -> Bool {
        guard let account = try useTicket(token, for: .emailVerification, at: date)?.account else { return false }
        try setEmailVerificationDate(date, of: account)
        return true
    }

    /// Sets a password, deletes all password reset tickets of the account, and signs out the given devices.
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

/// The devices that are signed out when a password is changed.
public enum DevicesToSignOut: Sendable {
    case none, all
    /// All devices except the device in the associated value, which is the device that changes the password.
    case others(than: NodeID)
}

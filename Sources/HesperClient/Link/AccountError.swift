public import Foundation
internal import HesperModel

/// The reason why signing up, signing in or signing out failed.
public enum AccountError: Error, Equatable, Sendable {
    /// The address is not the URL of a server, such as `https://notes.example.org`.
    case invalidServer(String)
    /// The address begins with `http:`. This is allowed only for a server on this machine, because passwords would be sent without
    /// encryption.
    case insecureServer(String)
    /// The server could not be reached. The associated value is the reason.
    case offline(String)
    /// There is no Hesper server at this address.
    case notHesper
    /// The server lacks features that this library needs. The operator must update the server.
    case serverTooOld(missing: [String])
    /// No account has this e-mail address and password.
    case wrongPassword
    /// There were too many attempts to sign in. The next attempt is possible after this delay.
    case tooManyAttempts(retryAfter: Duration)
    /// The operator of the server has disabled the account.
    case accountDisabled
    /// The server does not allow open sign-up. The user must ask its operator for an invitation or an account.
    case signUpClosed
    /// There is already an account with this e-mail address.
    case emailTaken
    /// The server rejected a field of the request. The associated values are the name of the field (`email`, `password`,
    /// `deviceName` or `invitation`) and the reason.
    case invalidField(String, String)
    /// The local copy belongs to an account, and the user tried to sign up or to sign in to a different one. The associated value
    /// is the e-mail address of the local copy's account.
    case otherAccount(String)
    /// The server is unavailable or failed. The first associated value is the reason; `retryAfter` is the delay before the next
    /// attempt, if the response states it.
    case serverFailed(String, retryAfter: Duration?)
}

extension AccountError: LocalizedError, CustomStringConvertible {
    public var errorDescription: String? { description }

    /// A message for the user, in English.
    public var description: String {
        switch self {
        case .invalidServer(let address):
            "“\(address)” is not the address of a server. Enter an address such as https://notes.example.org."
        case .insecureServer(let address):
            "“\(address)” is not encrypted. Enter an address that begins with https://."
        case .offline(let reason): "The server could not be reached. \(reason)"
        case .notHesper: "There is no Hesper server at this address."
        case .serverTooOld(let missing):
            "This server is too old for this app. The operator must update the server (missing: "
                + "\(missing.joined(separator: ", ")))."
        case .wrongPassword: "The e-mail address or the password is wrong."
        case .tooManyAttempts(let retryAfter):
            "Too many attempts. Try again in \(retryAfter.components.seconds) s."
        case .accountDisabled: "The operator of the server has disabled this account."
        case .signUpClosed: "Sign-up on this server is closed. Ask its operator for an invitation or an account."
        case .emailTaken: "There is already an account with this e-mail address. Sign in instead."
        case .invalidField(_, let detail): detail
        case .otherAccount(let email):
            "The data on this device belongs to the account of \(email). Sign in to that account, or erase the data first."
        case .serverFailed(let detail, _): detail
        }
    }
}

extension AccountError {
    init(_ invalid: ServerURL.Invalid) {
        switch invalid {
        case .notServerURL(let text): self = .invalidServer(text)
        case .notHTTPS(let text): self = .insecureServer(text)
        }
    }

    /// Creates the error for a sign-up, sign-in or sign-out request that the server refused with this problem.
    init(_ problem: ServerProblem) {
        let retryAfter = problem.retryAfter.map { Duration.seconds($0) }
        switch problem.kind {
        case .unauthenticated: self = .wrongPassword
        case .accountDisabled: self = .accountDisabled
        case .signUpClosed: self = .signUpClosed
        case .emailTaken: self = .emailTaken
        case .tooManyRequests: self = .tooManyAttempts(retryAfter: retryAfter ?? .seconds(1))
        case .invalidField:
            let field = problem.pointer.map { $0.hasPrefix("/") ? String($0.dropFirst()) : $0 } ?? ""
            self = .invalidField(field, problem.detail)
        default: self = .serverFailed(problem.detail, retryAfter: retryAfter)
        }
    }
}

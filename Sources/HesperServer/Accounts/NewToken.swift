import HesperModel
import HesperStore

/// An access token that is being created, by the API or by `hesper account token create`.
public struct NewToken: Sendable {
    let device: Device
    let token: BearerToken

    /// The token itself. The database contains only its hash.
    public var text: String { token.text }

    public init(name: String, access: TokenAccess, account: UniqueID, at date: Timestamp) {
        token = .randomForAddress()
        device = Device(
            node: .random(), account: account, name: name, appVersion: nil, userAgent: nil, creationDate: date,
            // A use is recorded only if the last use was at least a minute ago. The initial value is therefore a date long ago, so
            // that the first use of the token is recorded.
            lastUseDate: Timestamp(clamping: 0), access: access)
    }

    /// The hash of a token that is part of the address to which an e-mail was sent. Case is ignored, and the prefix `hesper_` may
    /// be missing. Nil if the text does not have the form of a token.
    public static func hash(of text: String) -> TokenHash? {
        let text = text.lowercased()
        return BearerToken(text.hasPrefix(BearerToken.prefix) ? text[...] : "\(BearerToken.prefix)\(text)")?.hash
    }

    /// Inserts the token.
    /// - Throws: `invalid-field` if the tag does not exist, `too-large` if the account has too many tokens.
    public func insert(into transaction: any Transaction, scope: ScopeID) throws {
        let others = try transaction.devices(
            of: device.account, tokens: true, after: nil, limit: Limits.accessTokens)
        guard others.count < Limits.accessTokens else {
            throw Problem.tooLarge(
                "An account can have at most \(Limits.accessTokens) access tokens. Revoke one that is no longer used.",
                limit: Limits.accessTokens)
        }
        if let tag = device.access?.tag {
            guard case .entity(.tag, .some)? = try transaction.state(of: tag, in: scope) else {
                throw Problem(.invalidField, "This account has no tag with the ID \(tag).", at: "/tag")
            }
        }
        try transaction.insert(device, token: token.hash)
    }
}

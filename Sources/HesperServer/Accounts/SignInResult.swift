import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird

/// The response to a sign-up or sign-in. It contains the token, in the body or in a cookie. The token cannot be requested again.
struct SignInResult: Sendable {
    let account: Account
    let usage: Usage
    let quota: Int64?
    let device: Device
    let token: BearerToken
    /// The name of the cookie for the token; nil if the token is in the body.
    let cookie: SessionCookie.Name?

    var response: Response {
        let cookies = cookie.map { [SessionCookie(token, name: $0).renewal] } ?? []
        return .object(status: .created, headers: HTTPFields(cookies)) { writer in
            writer.name("account")
            account.write(to: &writer, usage: usage, quota: quota)
            writer.name("device")
            device.write(to: &writer, isCurrent: true)
            if cookie == nil { writer.member("token", token.text) }
        }
    }
}

extension Account {
    /// - Parameter quota: the default quota of an account, in bytes. It applies if the operator has set no quota for the account.
    ///   Nil for no limit.
    func write(to writer: inout JSONWriter, usage: Usage, quota: Int64?) {
        writer.object { writer in
            writer.member("uniqueID", uniqueID)
            writer.member("email", email)
            writer.member("creationDate", creationDate)
            if let emailVerificationDate { writer.member("emailVerificationDate", emailVerificationDate) }
            writer.name("usage")
            writer.object { writer in
                writer.member("objects", Int64(usage.objects))
                writer.member("bytes", Int64(usage.bytes))
                writer.member("attachmentBytes", usage.storage.attachmentBytes)
                writer.member("storedBytes", usage.storage.bytes)
            }
            if let limit = usage.storage.quota.limit(standard: quota) { writer.member("quotaBytes", limit) }
        }
    }
}

extension Device {
    func write(to writer: inout JSONWriter, isCurrent: Bool) {
        writer.object { writer in
            writer.member("uniqueID", node.description)
            writer.member("name", name)
            if let appVersion { writer.member("appVersion", appVersion) }
            if let userAgent { writer.member("userAgent", userAgent) }
            writer.member("creationDate", creationDate)
            writer.member("lastUseDate", lastUseDate)
            if let lastUseAddress { writer.member("lastUseAddress", lastUseAddress) }
            writer.member("current", isCurrent)
        }
    }
}

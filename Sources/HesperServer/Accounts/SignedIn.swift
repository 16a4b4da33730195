import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird

/// What a device gets when it has signed up or in. The token is shown this once, or goes into a cookie.
struct SignedIn: Sendable {
    let account: Account
    let usage: Usage
    let quota: Int64?
    let device: Device
    let token: BearerToken
    /// The name of the cookie that the token goes into, if it does.
    let cookie: SessionCookie.Name?

    var response: Response {
        let given = cookie.map { [SessionCookie(token, name: $0).given] } ?? []
        return .object(status: .created, headers: HTTPFields(given)) { writer in
            writer.name("account")
            account.write(to: &writer, usage: usage, quota: quota)
            writer.name("device")
            device.write(to: &writer, isCurrent: true)
            if cookie == nil { writer.member("token", token.text) }
        }
    }
}

extension Account {
    /// - Parameter quota: how many bytes an account may store that has no quota of its own; nil for any number.
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

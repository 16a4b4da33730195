/// What a client of S3 proves itself with. It is never described: a log has no use for it.
public struct S3Credentials: Sendable, Equatable {
    let accessKeyID: String
    let secretAccessKey: String
    /// Comes with keys that are valid for a while only.
    let sessionToken: String?

    public init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
    }
}

extension S3Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "S3Credentials" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

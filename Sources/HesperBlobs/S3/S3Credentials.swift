/// Credentials for S3. Their description contains no secrets, so that no secret can appear in a log.
public struct S3Credentials: Sendable, Equatable {
    let accessKeyID: String
    let secretAccessKey: String
    /// The session token of temporary credentials; nil for permanent credentials.
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

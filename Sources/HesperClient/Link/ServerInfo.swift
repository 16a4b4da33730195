package import HesperModel

/// The response of `GET /v1/server`: the features and limits of a server.
package struct ServerInfo: Sendable, Equatable {
    package var name: String
    package var version: String
    package var features: Set<String>
    /// Who can sign up: `open`, `invite` or `closed`.
    package var signUp: String
    /// Whether sign-up is open and the server has no account yet. If so, an app shows its sign-up form first.
    package var needsFirstAccount: Bool
    /// The limits that a client can check itself, such as `textBytes`.
    package var limits: [String: Int64]
    package var serverClock: Clock?

    /// The features without which this library cannot sync.
    package static let requiredFeatures = [
        "sync", "attachments", "uploads", "objects", "deleted-objects", "digests", "text-descent",
    ]

    /// The features that only some fields need. If the server lacks such a feature, the fields that need it are not sent.
    package static let optionalFeatures: Set<String> = ["object-texts", "object-files"]

    /// The required features that the server lacks because it is too old.
    package var missingFeatures: [String] { ServerInfo.requiredFeatures.filter { !features.contains($0) } }

    /// Reads the body of the response; nil if the body does not come from a Hesper server.
    package init?(_ body: [UInt8]) {
        guard case .object(let json)? = try? JSONReader.read(body), let name = json["name"]?.string,
            let version = json["version"]?.string, case .array(let features)? = json["features"]
        else { return nil }
        self.name = name
        self.version = version
        self.features = Set(features.compactMap { if case .string(let feature) = $0 { feature } else { nil } })
        signUp = json["signUp"]?.string ?? "closed"
        needsFirstAccount = json["needsFirstAccount"] == .bool(true)
        limits = [:]
        for member in json["limits"]?.members ?? [] {
            if case .integer(let limit) = member.value { limits[member.name] = limit }
        }
        serverClock = json["serverClock"]?.string.flatMap(Clock.init)
    }
}

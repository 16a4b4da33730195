import HesperModel
import HesperStore
import Hummingbird

/// `GET /v1/server`: the name, version, features and limits of this server.
struct ServerInfo: Resource {
    let store: any Store
    let settings: ServerSettings

    static let features = [
        "sync", "notes", "tags", "attachments", "uploads", "objects", "deleted-objects", "edits", "recently-deleted",
        "search", "digests", "export", "events", "ephemeral", "cookies", "revocations", "sign-out-others",
        "password-resets", "compression", "text-descent", "idempotency-keys",
    ]

    /// The features of this server. Optional features come last.
    private var features: [String] { ServerInfo.features + (settings.mail == nil ? [] : ["mail"]) }

    func add(to routes: inout Routes) {
        routes.open(.get, "/v1/server", cache: .never, use: get)
    }

    @Sendable private func get(_ request: APIRequest) -> Response {
        var clock = ClockSource(node: store.installation.node)
        let now = clock.tick(at: UInt64(Timestamp.now.milliseconds))
        return .object { writer in
            writer.member("name", "Hesper")
            writer.member("version", settings.version)
            writer.member("features", .array(features.map { .string($0) }))
            writer.member("signUp", settings.signUp(for: request).rawValue)
            writer.name("limits")
            writer.object { writer in
                for (name, value) in ServerInfo.limits { writer.member(name, Int64(value)) }
                writer.member("ephemeralsAtOnce", Int64(settings.ephemerals.burst))
                writer.member("ephemeralsPerMinute", Int64(settings.ephemerals.perMinute))
                writer.member("attachmentBytes", settings.attachments.largest)
                if let quota = settings.quota { writer.member("quotaBytes", quota) }
                writer.member("openUploads", Int64(settings.attachments.openUploads))
                writer.member("uploadSeconds", Int64(settings.attachments.uploadSeconds))
                writer.member("graceSeconds", settings.sweep.grace / 1_000)
                if let requests = settings.requests { writer.member("requestsPerMinute", Int64(requests.perMinute)) }
            }
            writer.member("serverClock", now)
        }
    }

    /// The limits that a client must know before it sends a request. Other limits are only reported in errors.
    private static let limits: [(String, Int)] = [
        ("textBytes", Limits.textBytes), ("textAfter", Limits.textAfter), ("tagNameBytes", Limits.tagNameBytes),
        ("attributeValueBytes", Limits.attributeValueBytes), ("attributes", Limits.attributes),
        ("objectAttributes", Limits.objectAttributes), ("members", Limits.members), ("nameLength", Limits.nameLength),
        ("previewBytes", Limits.previewBytes), ("filenameBytes", Limits.filenameBytes),
        ("jsonValues", Limits.jsonValues), ("pushObjects", Limits.pushObjects), ("pushBytes", Limits.pushBytes),
        ("greatestPage", Limits.greatestPage), ("leastPasswordBytes", Limits.passwordBytes.lowerBound),
        ("greatestPasswordBytes", Limits.passwordBytes.upperBound), ("emailBytes", Limits.emailBytes),
        ("deviceNameLength", Limits.deviceNameLength), ("appVersionLength", Credentials.appVersionLength),
        ("deviceListeners", EventHub.listenersPerDevice), ("ephemeralBytes", Limits.ephemeralBytes),
        ("searchLength", SearchQuery.maximumLength), ("searchTerms", SearchQuery.maximumTerms),
        ("clockAheadSeconds", Int(Limits.clockAhead / 1_000)),
        ("idempotencyKeyLength", Limits.idempotencyKeyLength), ("idempotencyKeySeconds", Limits.idempotencyKeySeconds),
    ]
}

import HesperModel
import HesperStore
import Hummingbird
import NIOConcurrencyHelpers

/// `GET /v1/server`: the name, version, features and limits of this server.
struct ServerInfo: Resource {
    let store: any Store
    let settings: ServerSettings
    /// Whether an account has been found in the database. The database is not queried again after that, so if all accounts are
    /// deleted later, `needsFirstAccount` stays false until a restart.
    private let hasAccount = NIOLockedValueBox(false)

    init(store: any Store, settings: ServerSettings) {
        self.store = store
        self.settings = settings
    }

    static let features = [
        "sync", "notes", "tags", "attachments", "uploads", "objects", "object-texts", "object-files", "deleted-objects",
        "edits", "recently-deleted", "search", "digests", "export", "events", "ephemeral", "cookies", "revocations",
        "sign-out-others", "password-resets", "compression", "text-descent", "idempotency-keys", "device-names",
        "access-tokens", "capture", "lists", "imports", "webhooks",
    ]

    /// The features of this server. Optional features come last.
    private var features: [String] { ServerInfo.features + (settings.mail == nil ? [] : ["mail"]) }

    func add(to routes: inout Routes) {
        routes.open(.get, "/v1/server", cache: .never, use: get)
    }

    /// Whether a client should show its sign-up form first, because there is no account yet. If sign-up is not open to the
    /// request, this is false, so that strangers do not learn that a server is unused.
    private func needsFirstAccount(_ signUp: SignUpPolicy) async -> Bool {
        guard signUp == .open, !hasAccount.withLockedValue({ $0 }) else { return false }
        // If the database is unavailable, the error is ignored, because the other members of the response do not need the database.
        guard let isThere = try? await store.read({ try $0.hasAccount() }) else { return false }
        if isThere { hasAccount.withLockedValue { $0 = true } }
        return !isThere
    }

    @Sendable private func get(_ request: APIRequest) async -> Response {
        let signUp = settings.signUp(for: request)
        let needsFirstAccount = await needsFirstAccount(signUp)
        var clock = ClockSource(node: store.installation.node)
        let now = clock.tick(at: UInt64(Timestamp.now.milliseconds))
        return .object { writer in
            writer.member("name", "Hesper")
            writer.member("version", settings.version)
            writer.member("features", .array(features.map { .string($0) }))
            writer.member("signUp", signUp.rawValue)
            writer.member("needsFirstAccount", needsFirstAccount)
            writer.name("limits")
            writer.object { writer in
                for (name, value) in ServerInfo.limits { writer.member(name, Int64(value)) }
                writer.member("ephemeralsAtOnce", Int64(settings.ephemerals.burst))
                writer.member("ephemeralsPerMinute", Int64(settings.ephemerals.perMinute))
                writer.member("attachmentBytes", settings.attachments.largest)
                if let quota = settings.quota { writer.member("quotaBytes", quota) }
                writer.member("openUploads", Int64(settings.attachments.openUploads))
                writer.member("uploadSeconds", Int64(settings.attachments.uploadSeconds))
                writer.member("importBytes", settings.imports.bytes)
                writer.member("importSeconds", settings.imports.age / 1_000)
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
        ("objectAttributes", Limits.objectAttributes), ("objectTexts", Limits.objectTexts),
        ("objectFiles", Limits.objectFiles), ("members", Limits.members), ("nameLength", Limits.nameLength),
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

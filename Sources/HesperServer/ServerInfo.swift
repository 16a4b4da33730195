import HesperModel
import HesperStore
import Hummingbird

/// `GET /v1/server`: what this server is, what it can do, and its limits.
struct ServerInfo: Resource {
    let store: any Store
    let settings: ServerSettings

    static let features = [
        "sync", "notes", "tags", "attachments", "uploads", "objects", "deleted-objects", "edits", "recently-deleted",
        "search", "digests", "export", "events", "ephemeral", "cookies", "revocations", "sign-out-others",
        "password-resets", "compression", "text-descent",
    ]

    /// What only some servers can do comes last.
    private var features: [String] { ServerInfo.features + (settings.mail == nil ? [] : ["mail"]) }

    func add(to routes: inout Routes) {
        routes.open(.get, "/v1/server", keeping: .never, use: get)
    }

    @Sendable private func get(_ call: Call) -> Response {
        var clock = ClockSource(node: store.installation.node)
        let now = clock.tick(at: UInt64(Timestamp.now.milliseconds))
        return .object { writer in
            writer.member("name", "Hesper")
            writer.member("version", settings.version)
            writer.member("features", .array(features.map { .string($0) }))
            writer.member("signUp", settings.signUp(for: call).rawValue)
            writer.name("limits")
            writer.object { writer in
                for (name, value) in ServerInfo.limits { writer.member(name, Int64(value)) }
                writer.member("ephemeralsPerMinute", Int64(settings.ephemerals.perMinute))
                writer.member("attachmentBytes", settings.attachments.largest)
                if let quota = settings.quota { writer.member("quotaBytes", quota) }
                writer.member("openUploads", Int64(settings.attachments.openUploads))
                writer.member("uploadSeconds", Int64(settings.attachments.uploadSeconds))
                for (name, value) in settings.limits { writer.member(name, Int64(value)) }
                if let requests = settings.requests { writer.member("requestsPerMinute", Int64(requests.perMinute)) }
            }
            writer.member("serverClock", now)
        }
    }

    private static let limits: [(String, Int)] = [
        ("textBytes", Limits.textBytes), ("textAfter", Limits.textAfter), ("tagNameBytes", Limits.tagNameBytes),
        ("attributeValueBytes", Limits.attributeValueBytes), ("attributes", Limits.attributes),
        ("objectAttributes", Limits.objectAttributes), ("members", Limits.members), ("nameLength", Limits.nameLength),
        ("previewBytes", Limits.previewBytes), ("filenameBytes", Limits.filenameBytes), ("depth", Limits.depth),
        ("jsonValues", Limits.jsonValues), ("largeBodyBytes", BodyPermit.freeBytes),
        ("integer", Int(Limits.integer)), ("pushObjects", Limits.pushObjects), ("pushBytes", Limits.pushBytes),
        ("pushLoadBytes", Limits.pushLoadBytes), ("defaultPage", Limits.defaultPage),
        ("greatestPage", Limits.greatestPage), ("pageBytes", Limits.pageBytes),
        ("leastPasswordBytes", Limits.passwordBytes.lowerBound),
        ("greatestPasswordBytes", Limits.passwordBytes.upperBound), ("emailBytes", Limits.emailBytes),
        ("deviceNameLength", Limits.deviceNameLength), ("eventBytes", Limits.eventBytes),
        ("ephemeralBytes", Limits.ephemeralBytes), ("listeners", EventHub.listenersOfScope),
        ("deviceListeners", EventHub.listenersOfDevice), ("headerBytes", Limits.headerBytes),
        ("searchLength", SearchQuery.maximumLength), ("searchTerms", SearchQuery.maximumTerms),
        ("searchNotes", Limits.searchNotes), ("exports", Exports.atOnce),
        ("clockAheadSeconds", Int(Limits.clockAhead / 1_000)), ("appVersionLength", Credentials.appVersionLength),
        ("requestIDLength", RequestIdentity.lengths.upperBound), ("cookieSeconds", SessionCookie.maxAge),
        ("resetCodeSeconds", Int(Ticket.resetLifetime / 1_000)),
        ("invitationSeconds", Int(Ticket.invitationLifetime / 1_000)),
        ("mailedCodeSeconds", Int(Ticket.mailedResetLifetime / 1_000)),
        ("verificationCodeSeconds", Int(Ticket.verificationLifetime / 1_000)),
    ]
}

extension ServerSettings {
    /// What one client may take of the server's time.
    fileprivate var limits: [(String, Int)] {
        [
            ("uriBytes", connections.uriBytes), ("headSeconds", connections.idleSeconds),
            ("bodySeconds", connections.bodySeconds), ("answerSeconds", connections.stallSeconds),
            ("connectionsPerAddress", connections.perAddress), ("freePasswordTries", signIns.freeTries),
            ("firstPasswordWaitSeconds", signIns.firstWaitSeconds),
            ("longestPasswordWaitSeconds", signIns.longestWaitSeconds),
            ("passwordTriesSeconds", signIns.forgetSeconds),
            ("wrongPasswordsPerMinute", signIns.perAddress.perMinute), ("signIns", signIns.atOncePerAddress),
            ("signUpsAtOnce", signIns.signUps.burst), ("signUpsPerMinute", signIns.signUps.perMinute),
            ("handshakeSeconds", connections.handshakeSeconds), ("streamsPerConnection", connections.streams),
            ("streamsPerAddress", connections.streamsPerAddress),
            ("ephemeralsAtOnce", ephemerals.burst), ("graceSeconds", Int(sweep.grace / 1_000)),
            ("searchSeconds", Int(searches.timeout.components.seconds)), ("searches", searches.permits.perKey),
            ("searchesWaiting", searches.permits.waitingPerKey),
            ("largeBodies", bodies.perKey), ("largeBodiesWaiting", bodies.waitingPerKey),
            ("freeMails", mailLimits.free),
            ("firstMailWaitSeconds", mailLimits.firstWaitSeconds),
            ("longestMailWaitSeconds", mailLimits.longestWaitSeconds),
            ("freeMailsPerAddress", mailLimits.freePerAddress),
        ]
    }
}

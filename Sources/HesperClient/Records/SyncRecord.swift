package import HesperModel

/// The state of sync. It is saved in the same transaction as the changes that were received, so that the sync token and the digest
/// always fit the stored objects (clients.md, rule 5).
package struct SyncRecord: Sendable, Equatable {
    /// The sync token of the next page; nil to read from the start.
    package var token: String?
    /// The digest of the acknowledged values of this local copy.
    package var digest = Digest.zero
    /// The server's digest at the end of the last round of sync; nil while pages are left to read.
    package var serverDigest: Digest?
    /// The time at which the last round of sync ended.
    package var lastSync: Timestamp?
    /// Whether all data of the server is being read again from the start. Until this has ended, nothing is sent.
    package var isReading = false
    /// Whether a sync from the start is in progress. It first reads all data of the server again (`isReading`), and then resends
    /// the data that the server lacks.
    package var hasStartedOver = false
    /// The time at which the local copy was last repaired because the digests differed.
    package var repaired: Timestamp?
    /// The delay before changes over the quota are sent again, in milliseconds; nil if no changes wait.
    package var fullWait: Int64?
    /// The time at which the delay `fullWait` ends; nil if no changes wait.
    package var fullUntil: Timestamp?
    /// The reason why the user must sign in again; nil if that is not necessary.
    package var signInAgain: SignInReason?
    /// Whether the server refused a clock, because another device with a copy of this database file had used the same clock.
    package var hasReusedClocks = false
    /// The optional features that the server had when it was last asked; nil if it was not asked in this session.
    package var features: Set<String>?

    package enum SignInReason: String, Sendable {
        /// The session ended or was revoked.
        case expired
        /// The database file was copied. Two devices therefore used the same node.
        case copied
    }

    package init() {}

    /// Shortens waits that would last longer than intended. Such a wait began while a clock was ahead: the clock of this
    /// device, or the clock of the device from which the database file was copied.
    mutating func limitWaits(at now: Timestamp) {
        if let wait = fullWait, let until = fullUntil { fullUntil = min(until, now.adding(wait)) }
        if let repaired, repaired > now { self.repaired = nil }
    }

    /// Whether this local copy equals the server's data, according to their digests; nil while the server's digest is unknown.
    package var isIdentical: Bool? { serverDigest.map { $0 == digest } }
}

extension SyncRecord {
    var json: JSON {
        JSON(members: [
            ("token", token.map(JSON.string)), ("digest", .string(digest.description)),
            ("serverDigest", serverDigest.map { .string($0.description) }),
            ("lastSync", lastSync.map { .integer($0.milliseconds) }), ("isReading", isReading ? true : nil),
            ("hasStartedOver", hasStartedOver ? true : nil), ("repaired", repaired.map { .integer($0.milliseconds) }),
            ("fullWait", fullWait.map(JSON.integer)), ("fullUntil", fullUntil.map { .integer($0.milliseconds) }),
            ("signInAgain", signInAgain.map { .string($0.rawValue) }),
            ("hasReusedClocks", hasReusedClocks ? true : nil),
            ("features", features.map { .array($0.sorted().map(JSON.string)) }),
        ])
    }

    init(json: JSON) {
        func moment(_ name: String) -> Timestamp? { json[name]?.integer.map(Timestamp.init(clamping:)) }
        token = json["token"]?.string
        digest = json["digest"]?.string.flatMap(Digest.init(text:)) ?? .zero
        serverDigest = json["serverDigest"]?.string.flatMap(Digest.init(text:))
        lastSync = moment("lastSync")
        isReading = json["isReading"]?.bool ?? false
        hasStartedOver = json["hasStartedOver"]?.bool ?? false
        repaired = moment("repaired")
        fullWait = json["fullWait"]?.integer
        fullUntil = moment("fullUntil")
        signInAgain = json["signInAgain"]?.string.flatMap(SignInReason.init)
        hasReusedClocks = json["hasReusedClocks"]?.bool ?? false
        features = json["features"].map { Set($0.elements.compactMap(\.string)) }
    }
}

extension Digest {
    /// Reads a digest of 32 hex digits.
    package init?(text: String) {
        guard text.utf8.count == 32, let high = UInt64(text.prefix(16), radix: 16),
            let low = UInt64(text.suffix(16), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }
}

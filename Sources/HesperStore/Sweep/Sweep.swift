import HesperModel

/// Times and limits of sweeps. The data of an object expires at different times, so each object has a date at which it is next
/// examined (storage.md, The sweeper).
public enum Sweep {
    /// The time from a change to the next examination of the object, in milliseconds. Nothing is removed earlier.
    public static let firstCheckDelay = Timestamp.hour
    /// The age at which blobs without an attachment and unfinished uploads are removed, in milliseconds.
    public static let abandonedAge = Timestamp.day
    /// The time from the discovery of a blob without a row to its removal, in milliseconds.
    public static let unknownAge = 30 * Timestamp.day
    /// The maximum number of such blobs that are recorded. Further ones are recorded after these have been removed.
    public static let unknownLimit = 10_000
    /// The interval at which the sweeper renews the marker, in milliseconds.
    static let renewalInterval = Timestamp.hour
    /// The time after which a failed renewal is retried, in milliseconds.
    public static let renewalAfterFailure: Int64 = 10 * 60_000
    /// The interval at which every server reads the marker, in milliseconds.
    static let markerCheckInterval: Int64 = 60_000
    /// The time for which a server removes no blobs after it wrote its first marker, in milliseconds. Within this time, servers
    /// on copies of the database that know the previous nonce read the new marker.
    public static let settling: Int64 = 5 * 60_000
}

/// The operator's settings for the removal of old data.
public struct SweepPolicy: Sendable, Equatable {
    public var history: HistoryPolicy
    /// The time for which deleted objects can be restored, in milliseconds. It must be at least ``Sweep/firstCheckDelay``.
    public var grace: Int64

    public init(history: HistoryPolicy = .standard, grace: Int64 = 30 * Timestamp.day) {
        self.history = history
        self.grace = grace
    }
}

/// An object that a sweeper has claimed for examination.
public struct DueSweep: Sendable, Equatable {
    public let scope: ScopeID
    public let object: UniqueID
    /// The position up to which the object's edits have been examined.
    public var position: Int64
    /// The date at which the claim expires. It is stored as the object's due date; a changed due date shows that the object was
    /// changed during the examination.
    public let claim: Timestamp

    public init(scope: ScopeID, object: UniqueID, position: Int64, claim: Timestamp) {
        self.scope = scope
        self.object = object
        self.position = position
        self.claim = claim
    }
}

/// A value of a register, with the register's attribute.
public struct StoredVersion: Sendable, Hashable {
    public let attribute: Attribute
    public let version: Thinning.Version

    public init(_ attribute: Attribute, _ version: Thinning.Version) {
        self.attribute = attribute
        self.version = version
    }
}

/// The values in one row of edits that may be thinned.
public struct SweptEdit: Sendable, Equatable {
    /// The row's position in the order of arrival.
    public let position: Int64
    public let versions: [StoredVersion]

    public init(position: Int64, versions: [StoredVersion]) {
        self.position = position
        self.versions = versions
    }
}

extension SweptEdit {
    /// The values of registers in one row of edits.
    public init(_ edits: [Edit], position: Int64, pushedAt: Timestamp, sequence: Int64, hasLostWords: Bool) {
        let versions = edits.compactMap { edit -> StoredVersion? in
            guard let clock = edit.clock, edit.value != nil else { return nil }
            return StoredVersion(
                edit.attribute,
                Thinning.Version(
                    clock: clock, pushedAt: pushedAt, position: position, sequence: sequence,
                    hasLostWords: hasLostWords && edit.attribute == .text))
        }
        self.init(position: position, versions: versions)
    }

    /// The edits of the row without these values. Their attributes and clocks remain.
    public func dropped(from edits: [Edit]) -> [Edit] {
        edits.map { edit in
            let isDropped = versions.contains { $0.attribute == edit.attribute && $0.version.clock == edit.clock }
            return isDropped ? Edit(edit.attribute, nil, at: edit.clock) : edit
        }
    }
}

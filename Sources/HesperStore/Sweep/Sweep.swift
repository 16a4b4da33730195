import HesperModel

/// What time removes is looked for object by object, each when something of it may be due (storage.md, The sweeper).
public enum Sweep {
    /// How long after a change an object is first looked at, in milliseconds; nothing is ever removed sooner.
    public static let firstLook = Timestamp.hour
    /// The age, in milliseconds, at which bytes without an attachment and unfinished uploads are removed.
    public static let abandonedAge = Timestamp.day
    /// How long, in milliseconds, blobs without a row stay after they were first seen.
    public static let unknownAge = 30 * Timestamp.day
    /// The number of such blobs that are recorded; the others are found when these are gone.
    public static let unknownLimit = 10_000
    /// How often the sweeper renews the marker, in milliseconds.
    static let renewal = Timestamp.hour
    /// When it tries again if that failed, in milliseconds.
    public static let renewalAfterFailure: Int64 = 10 * 60_000
    /// How often every server reads the marker, in milliseconds.
    static let markerLook: Int64 = 60_000
    /// How long a server removes no bytes after it wrote its first marker, in milliseconds: a server on a copy of the
    /// database, which knew the nonce of before, has looked at the marker by then.
    public static let settling: Int64 = 5 * 60_000
}

/// What an operator decides of what time removes.
public struct SweepPolicy: Sendable, Equatable {
    public var history: HistoryPolicy
    /// How long what was deleted can be put back, in milliseconds; not less than ``Sweep/firstLook``.
    public var grace: Int64

    public init(history: HistoryPolicy = .standard, grace: Int64 = 30 * Timestamp.day) {
        self.history = history
        self.grace = grace
    }
}

/// An object that somebody has taken to look at.
public struct DueSweep: Sendable, Equatable {
    public let scope: ScopeID
    public let object: UniqueID
    /// The place, in the order of arrival, up to which its edits were looked at.
    public var position: Int64
    /// When it is looked at again if whoever has taken it is never heard of again: no change of it sets this very date.
    public let claim: Timestamp

    public init(scope: ScopeID, object: UniqueID, position: Int64, claim: Timestamp) {
        self.scope = scope
        self.object = object
        self.position = position
        self.claim = claim
    }
}

/// A value of a register, with the name of that.
public struct StoredVersion: Sendable, Hashable {
    public let attribute: Attribute
    public let version: Thinning.Version

    public init(_ attribute: Attribute, _ version: Thinning.Version) {
        self.attribute = attribute
        self.version = version
    }
}

/// What one row of the bag has that time may remove.
public struct SweptEdit: Sendable, Equatable {
    /// Its place in the order of arrival.
    public let position: Int64
    public let versions: [StoredVersion]

    public init(position: Int64, versions: [StoredVersion]) {
        self.position = position
        self.versions = versions
    }
}

extension SweptEdit {
    /// The values of registers among the edits of one row of the bag.
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

    /// The edits of the row without these values: their keys stay.
    public func dropped(from edits: [Edit]) -> [Edit] {
        edits.map { edit in
            let isDropped = versions.contains { $0.attribute == edit.attribute && $0.version.clock == edit.clock }
            return isDropped ? Edit(edit.attribute, nil, at: edit.clock) : edit
        }
    }
}

import HesperModel

/// Durations and limits of sweeps. The values and edits of an object expire at different times. Therefore each object has a date
/// at which the object is examined next (storage.md, The sweeper).
public enum Sweep {
    /// The time from a change of an object to its next examination, in milliseconds. No data of the object is
    /// removed before this time has passed.
    public static let firstCheckDelay = Timestamp.hour
    /// The age, in milliseconds, at which unfinished uploads and blobs without an attachment object are removed.
    public static let abandonedAge = Timestamp.day
    /// The time from the discovery of a blob without a row in the database to the removal of the blob, in milliseconds.
    public static let unknownAge = 30 * Timestamp.day
    /// The maximum number of blobs without a row that are recorded at a time. Further blobs are recorded in a later sweep, after
    /// recorded blobs have been removed.
    public static let unknownLimit = 10_000
    /// The interval at which the sweeper writes a marker with a new nonce, in milliseconds.
    static let renewalInterval = Timestamp.hour
    /// The time after which a failed renewal of the marker is retried, in milliseconds.
    public static let renewalAfterFailure: Int64 = 10 * 60_000
    /// The interval at which every server reads the marker, in milliseconds.
    static let markerCheckInterval: Int64 = 60_000
    /// The time after a server's first renewal of the marker during which the server removes no blobs, in milliseconds. During
    /// this time, servers on copies of the database read the new marker. They detect that the nonce is unknown to them, and then
    /// remove no blobs.
    public static let settling: Int64 = 5 * 60_000
}

/// The operator's settings for the removal of old data.
public struct SweepPolicy: Sendable, Equatable {
    public var history: HistoryPolicy
    /// The time for which a deleted object can be restored, in milliseconds. It must be at least ``Sweep/firstCheckDelay``.
    public var grace: Int64

    public init(history: HistoryPolicy = .standard, grace: Int64 = 30 * Timestamp.day) {
        self.history = history
        self.grace = grace
    }
}

/// An object that a sweeper has claimed in order to examine it.
public struct DueSweep: Sendable, Equatable {
    public let scope: ScopeID
    public let object: UniqueID
    /// The position of the last edit that has been examined. The examination continues with the next edit.
    public var position: Int64
    /// The date at which the claim expires. While the object is claimed, this date is stored as its due date. If the stored due
    /// date differs, the object was changed during the examination.
    public let claim: Timestamp

    public init(scope: ScopeID, object: UniqueID, position: Int64, claim: Timestamp) {
        self.scope = scope
        self.object = object
        self.position = position
        self.claim = claim
    }
}

/// The metadata of a value that a register has or had, and the register's attribute.
public struct StoredVersion: Sendable, Hashable {
    public let attribute: Attribute
    public let version: Thinning.Version

    public init(_ attribute: Attribute, _ version: Thinning.Version) {
        self.attribute = attribute
        self.version = version
    }
}

/// Values in one row of the table `edits`. A sweep records the values when it reads the row, and removes them when they are
/// superseded and have expired.
public struct SweptEdit: Sendable, Equatable {
    /// The position of the row in the order of arrival.
    public let position: Int64
    public let versions: [StoredVersion]

    public init(position: Int64, versions: [StoredVersion]) {
        self.position = position
        self.versions = versions
    }
}

extension SweptEdit {
    /// Collects the values of registers in one row of the table `edits`.
    public init(_ edits: [Edit], position: Int64, pushedAt: Timestamp, sequence: Int64, hasLostWords: Bool) {
        let versions = edits.compactMap { edit -> StoredVersion? in
            guard let clock = edit.clock, edit.value != nil else { return nil }
            return StoredVersion(
                edit.attribute,
                Thinning.Version(
                    clock: clock, pushedAt: pushedAt, position: position, sequence: sequence,
                    hasLostWords: hasLostWords && edit.attribute.isText))
        }
        self.init(position: position, versions: versions)
    }

    /// Returns the edits of the row without the values that the sweep drops. Each edit keeps its attribute and its clock.
    public func dropped(from edits: [Edit]) -> [Edit] {
        edits.map { edit in
            let isDropped = versions.contains { $0.attribute == edit.attribute && $0.version.clock == edit.clock }
            return isDropped ? Edit(edit.attribute, nil, at: edit.clock) : edit
        }
    }
}

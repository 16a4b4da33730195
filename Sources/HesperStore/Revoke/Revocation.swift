import HesperModel

/// The revocation of a lost device, and the progress of undoing what it pushed after a moment (merge.md, Devices). It is stored
/// permanently, because clocks of the device are refused from any sender.
public struct Revocation: Sendable, Equatable {
    public let scope: ScopeID
    /// The lost device.
    public let node: NodeID
    /// The name that the user gave it.
    public let name: String
    /// The device that requested the revocation, if it is one that can itself be revoked; otherwise nil. The restored values
    /// are recorded as pushed by it.
    public let requestedBy: NodeID?
    public let requestDate: Timestamp
    /// The time after which the device's changes are undone; nil if none are.
    public var moment: Timestamp?
    /// The current pass.
    public var pass: Pass
    /// The sequence number up to which this pass has processed all objects.
    public var sequence: Int64
    /// The time at which all changes had been undone; nil until then.
    public var finishDate: Timestamp?
    public var counts: Counts

    /// The two passes through the scope. After the first, no note has a value from the device, so that the second can tell which
    /// tags and attachments are held because of other devices.
    public enum Pass: Int, Sendable {
        case notesAndObjects
        case tagsAndAttachments

        func contains(_ section: Section) -> Bool {
            switch section {
            case .notes, .objects: self == .notesAndObjects
            case .tags, .attachments: self == .tagsAndAttachments
            }
        }
    }

    /// The numbers of objects processed so far.
    public struct Counts: Sendable, Equatable {
        /// Objects with registers that were set to their values without the device's changes.
        public var putBack = 0
        /// Objects that were deleted, because the device had created them.
        public var deleted = 0
        /// Objects with a register that was set to an older value, because the right one is no longer stored.
        public var older = 0
        /// Objects with a change of the device that cannot be undone.
        public var kept = 0

        public init() {}

        public init(putBack: Int, deleted: Int, older: Int, kept: Int) {
            self.putBack = putBack
            self.deleted = deleted
            self.older = older
            self.kept = kept
        }
    }

    /// A new revocation.
    public init(
        of node: NodeID, named name: String, in scope: ScopeID, by requestedBy: NodeID?, at date: Timestamp,
        since moment: Timestamp?
    ) {
        self.init(
            scope: scope, node: node, name: name, requestedBy: requestedBy, requestDate: date, moment: moment,
            pass: .notesAndObjects, sequence: 0, finishDate: moment == nil ? date : nil, counts: Counts())
    }

    public init(
        scope: ScopeID, node: NodeID, name: String, requestedBy: NodeID?, requestDate: Timestamp, moment: Timestamp?,
        pass: Pass, sequence: Int64, finishDate: Timestamp?, counts: Counts
    ) {
        self.scope = scope
        self.node = node
        self.name = name
        self.requestedBy = requestedBy
        self.requestDate = requestDate
        self.moment = moment
        self.pass = pass
        self.sequence = sequence
        self.finishDate = finishDate
        self.counts = counts
    }

    /// Starts again with an earlier moment, or with a first one.
    /// - Returns: false if the current moment is not later; the revocation is then unchanged.
    public mutating func widen(to moment: Timestamp?) -> Bool {
        guard let moment, self.moment.map({ moment < $0 }) ?? true else { return false }
        self.moment = moment
        (pass, sequence, finishDate) = (.notesAndObjects, 0, nil)
        return true
    }
}

/// A live object, and whether a device changed it after a moment.
public struct PushedObject: Sendable, Equatable {
    public let uniqueID: UniqueID
    public let section: Section
    public let sequence: Int64
    public let isPushed: Bool

    public init(uniqueID: UniqueID, section: Section, sequence: Int64, isPushed: Bool) {
        self.uniqueID = uniqueID
        self.section = section
        self.sequence = sequence
        self.isPushed = isPushed
    }
}

/// The queries of revocations.
public protocol RevocationSnapshot {
    func revocation(of node: NodeID, in scope: ScopeID) throws -> Revocation?
    /// The revocations of these devices.
    func revocations(of nodes: Set<NodeID>, in scope: ScopeID) throws -> [Revocation]
    /// Whether the scope has edits or deletions of a device. If it has none, all edits of the scope are read.
    func hasTrace(of node: NodeID, in scope: ScopeID) throws -> Bool
    /// The unfinished revocations of all scopes.
    func openRevocations(limit: Int) throws -> [Revocation]
    /// The live objects with sequence numbers greater than `sequence`, ordered by sequence number.
    func objects(
        in scope: ScopeID, beyond sequence: Int64, pushedBy node: NodeID, after moment: Timestamp, limit: Int
    ) throws -> [PushedObject]
    /// The deletions by a device that arrived after a moment, the most recent first.
    /// - Parameter sequence: returns only deletions with a lower sequence number.
    func deletions(
        by node: NodeID, after moment: Timestamp, in scope: ScopeID, before sequence: Int64?, limit: Int
    ) throws -> [(deleted: DeletedObject, sequence: Int64)]
}

public protocol RevocationTransaction: RevocationSnapshot {
    /// Inserts or replaces a revocation. The scope must be locked.
    func put(_ revocation: Revocation) throws
}

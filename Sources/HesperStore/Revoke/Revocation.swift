import HesperModel

/// The revocation of a lost device, and the progress of undoing the changes that the device pushed after a moment (merge.md,
/// Devices). A revocation is stored permanently. The server needs it to reject new edits whose clock contains the node of the lost
/// device and a time after the moment, even if another device sends them.
public struct Revocation: Sendable, Equatable {
    public let scope: ScopeID
    /// The node of the lost device.
    public let node: NodeID
    /// The name that the user gave the lost device.
    public let name: String
    /// The device that requested the revocation; nil if the lost device itself requested it. The edits that undo changes of the
    /// lost device are recorded as pushed by the requesting device.
    public let requestedBy: NodeID?
    public let requestDate: Timestamp
    /// Changes that the device pushed after this time are undone. Nil if no changes are undone.
    public var moment: Timestamp?
    /// The current pass of the revocation.
    public var pass: Pass
    /// The sequence number up to which the current pass has processed all objects.
    public var sequence: Int64
    /// The time at which the revocation was completed; nil if there are still changes to undo.
    public var finishDate: Timestamp?
    public var counts: Counts

    /// The two passes through the scope. The first pass undoes the device's changes to notes and app objects. This can change which
    /// tags and attachments the notes hold, so tags and attachments are processed in the second pass.
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

    /// Counts of the objects processed so far, by outcome.
    public struct Counts: Sendable, Equatable {
        /// The number of objects in which at least one register was set back to the value that it would have without the device's
        /// changes.
        public var putBack = 0
        /// The number of objects that were deleted because the device had created them.
        public var deleted = 0
        /// The number of objects in which a register could not be set to the value that it would have without the device's changes.
        /// That value is no longer stored, so the register was set to an even earlier value.
        public var older = 0
        /// The number of objects with a change by the device that cannot be undone.
        public var kept = 0

        public init() {}

        public init(putBack: Int, deleted: Int, older: Int, kept: Int) {
            self.putBack = putBack
            self.deleted = deleted
            self.older = older
            self.kept = kept
        }
    }

    /// Creates a new revocation.
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

    /// Restarts the revocation with an earlier moment, so that more changes are undone. If the current moment is nil, every moment
    /// counts as earlier, because no changes have been undone yet.
    /// - Returns: false if `moment` is nil or not earlier than the current moment. The revocation is then unchanged.
    public mutating func widen(to moment: Timestamp?) -> Bool {
        guard let moment, self.moment.map({ moment < $0 }) ?? true else { return false }
        self.moment = moment
        (pass, sequence, finishDate) = (.notesAndObjects, 0, nil)
        return true
    }
}

/// A live object, and whether a given device pushed a change of the object after a given time (`isPushed`).
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

/// The queries that revocations need.
public protocol RevocationSnapshot {
    func revocation(of node: NodeID, in scope: ScopeID) throws -> Revocation?
    /// The revocations of these devices. Devices that have not been revoked are ignored.
    func revocations(of nodes: Set<NodeID>, in scope: ScopeID) throws -> [Revocation]
    /// Whether the scope contains edits or deletions by a device. The query is slow if there are none, because it then reads all
    /// edits of the scope.
    func hasTrace(of node: NodeID, in scope: ScopeID) throws -> Bool
    /// The unfinished revocations of all scopes, at most `limit`.
    func openRevocations(limit: Int) throws -> [Revocation]
    /// The live objects with sequence numbers greater than `sequence`, in ascending order. For each object, the result states
    /// whether `node` pushed a change of the object after `moment`.
    func objects(
        in scope: ScopeID, beyond sequence: Int64, pushedBy node: NodeID, after moment: Timestamp, limit: Int
    ) throws -> [PushedObject]
    /// The objects that a device has deleted, the most recently deleted first. Only deletions that arrived after `moment` are
    /// returned.
    /// - Parameter sequence: only deletions with a lower sequence number are returned; nil for all deletions.
    func deletions(
        by node: NodeID, after moment: Timestamp, in scope: ScopeID, before sequence: Int64?, limit: Int
    ) throws -> [(deleted: DeletedObject, sequence: Int64)]
}

public protocol RevocationTransaction: RevocationSnapshot {
    /// Inserts or replaces a revocation. The scope must be locked.
    func put(_ revocation: Revocation) throws
}

import HesperModel

/// That a device is lost, and how far what it pushed after a moment has been put back (merge.md, Devices). Kept for ever: it is
/// tiny, and what the device made is refused whoever brings it.
public struct Revocation: Sendable, Equatable {
    public let scope: ScopeID
    /// The lost device.
    public let node: NodeID
    /// What its owner called it.
    public let name: String
    /// Who asked for it, as far as it is a device that may be revoked itself: what is put back is pushed by it.
    public let requestedBy: NodeID?
    public let requestDate: Timestamp
    /// Nil if nothing is to be put back.
    public var moment: Timestamp?
    /// What is looked at now.
    public var pass: Pass
    /// Up to which sequence number all objects of this pass have been looked at.
    public var sequence: Int64
    /// When all was put back; nil while it is not.
    public var finishDate: Timestamp?
    public var counts: Counts

    /// Twice through the scope: once nothing of the device stands on any note, what holds a tag or an attachment is somebody else's.
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

    /// Objects, as far as it has come.
    public struct Counts: Sendable, Equatable {
        /// Of which registers were set to what stands without the device.
        public var putBack = 0
        /// Which nobody but the device had made.
        public var deleted = 0
        /// Of which something older was put back, because what stood is not kept any more.
        public var older = 0
        /// Of which something stays that cannot be put back.
        public var kept = 0

        public init() {}

        public init(putBack: Int, deleted: Int, older: Int, kept: Int) {
            self.putBack = putBack
            self.deleted = deleted
            self.older = older
            self.kept = kept
        }
    }

    /// One that begins.
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

    /// Begins again for an earlier moment, or for the first that is named.
    /// - Returns: whether it does: of two moments the earlier stands.
    public mutating func widen(to moment: Timestamp?) -> Bool {
        guard let moment, self.moment.map({ moment < $0 }) ?? true else { return false }
        self.moment = moment
        (pass, sequence, finishDate) = (.notesAndObjects, 0, nil)
        return true
    }
}

/// A live object, and whether a device pushed anything of it after a moment.
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

/// What a revocation asks a store.
public protocol RevocationSnapshot {
    func revocation(of node: NodeID, in scope: ScopeID) throws -> Revocation?
    /// Of these devices, those that were revoked.
    func revocations(of nodes: Set<NodeID>, in scope: ScopeID) throws -> [Revocation]
    /// Whether anything is kept that a device pushed or deleted. Looks through all edits of the scope, if it did neither.
    func hasTrace(of node: NodeID, in scope: ScopeID) throws -> Bool
    /// Those that have something to put back, of all scopes.
    func openRevocations(limit: Int) throws -> [Revocation]
    /// Live objects whose number is greater than `sequence`, in the order of these.
    func objects(
        in scope: ScopeID, beyond sequence: Int64, pushedBy node: NodeID, after moment: Timestamp, limit: Int
    ) throws -> [PushedObject]
    /// DeletedObjects of a device that arrived after a moment, the last first.
    /// - Parameter sequence: only those before this number.
    func deletions(
        by node: NodeID, after moment: Timestamp, in scope: ScopeID, before sequence: Int64?, limit: Int
    ) throws -> [(deleted: DeletedObject, sequence: Int64)]
}

public protocol RevocationTransaction: RevocationSnapshot {
    /// Keeps a revocation, in the place of what was known of it. The scope is locked.
    func put(_ revocation: Revocation) throws
}

/// What a merge may ask about a scope while it holds its lock. Asking changes nothing.
public protocol Bag {
    /// The state of each of these objects, as it is before the push; unknown ones are left out.
    /// - Parameter load: counts their bodies as they are read; once it throws, no more are.
    func states(of ids: [UniqueID], counting load: inout BagLoad) throws -> [UniqueID: ObjectState]
    /// The live tag whose name folds to this.
    func tag(named foldedName: String) throws -> UniqueID?
    /// The notes, waiting ones too but not the deleted, whose own register says that they hold this attachment.
    func holders(of attachment: UniqueID) throws -> [UniqueID]
    /// The edits of one object whose parcels may hold one with this clock, the newest parcel first.
    func parcels(of object: UniqueID, holding clock: Clock) throws -> [Parcel]
    /// The clock of the newest text by `node` that is older than `clock`, whether or not its value is still there.
    func newestText(of object: UniqueID, by node: NodeID, before clock: Clock) throws -> Clock?
    /// The texts of an object that name clocks which the bag lacked when they came, in any order.
    func textDescents(of object: UniqueID) throws -> [TextDescent]
    /// The clock of the text of an object that stood when the scope was at this sequence number; nil if it had none.
    func currentText(of object: UniqueID, at sequence: Int64) throws -> Clock?
    /// The same of the deleted note whose words were rescued into this one, as far as they came before its deletion.
    func parcels(rescuedInto note: UniqueID, holding clock: Clock) throws -> [Parcel]
    /// What the server knows of the bytes of an attachment; nil if it has none.
    func attachmentData(of attachment: UniqueID) throws -> AttachmentData?
}

extension Bag {
    /// The same, as much as one merge may load.
    public func states(of ids: [UniqueID]) throws -> [UniqueID: ObjectState] {
        var load = BagLoad(limit: Merge.Bounds().loadBytes)
        return try states(of: ids, counting: &load)
    }
}

/// What a text in the bag says of texts that the bag lacked when it came (merge.md, Text).
public struct TextDescent: Sendable, Equatable {
    public let clock: Clock
    /// ``Parcel/missingAncestors``.
    public let missingAncestors: [Clock]
    /// Where the scope stood once it had arrived.
    public let sequence: Int64

    public init(clock: Clock, missingAncestors: [Clock], sequence: Int64) {
        self.clock = clock
        self.missingAncestors = missingAncestors
        self.sequence = sequence
    }
}

/// The bytes of an attachment, as far as a merge needs to know them.
public struct AttachmentData: Sendable, Equatable {
    public let byteCount: Int64
    /// 64 hex digits.
    public let sha256: String

    public init(byteCount: Int64, sha256: String) {
        self.byteCount = byteCount
        self.sha256 = sha256
    }
}

/// What stands for one ID: a folded object, or what is left of a deleted one.
public enum ObjectState: Sendable, Equatable {
    /// - Parameter sequence: its place in the scope's order of changes; nil while it waits.
    case entity(Entity, sequence: Int64?)
    case deleted(DeletedObject, sequence: Int64)

    public var sequence: Int64? {
        switch self {
        case .entity(_, let sequence): sequence
        case .deleted(_, let sequence): sequence
        }
    }
}

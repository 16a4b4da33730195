/// Read access to the stored objects and edits of one scope (the bag), for a merge that holds the scope's lock.
public protocol Bag {
    /// The states of the given objects before the push. The result has no entries for objects that the scope does not know.
    /// - Parameter load: counts the bytes of the bodies that are read, and throws if there are too many.
    func states(of ids: [UniqueID], counting load: inout BagLoad) throws -> [UniqueID: ObjectState]
    /// The live tag whose folded name (``TagName/fold(_:)``) is `foldedName`; nil if there is none.
    func tag(named foldedName: String) throws -> UniqueID?
    /// The IDs of the notes and app objects to which this attachment belongs. Deleted objects are not included. An object whose
    /// required field is not set does not exist yet, but is included.
    func holders(of attachment: UniqueID) throws -> [UniqueID]
    /// Parcels of an object, the newest first. The result includes all parcels with an edit that has this clock, and may include
    /// others.
    func parcels(of object: UniqueID, holding clock: Clock) throws -> [Parcel]
    /// The newest version of a text among the versions that `node` wrote before `clock`. Returns the clock of this version; nil if
    /// there is none. A version is included even if thinning has dropped its value.
    func newest(_ text: Attribute, of object: UniqueID, by node: NodeID, before clock: Clock) throws -> Clock?
    /// The versions of a text that have missing ancestors (``Parcel/missingAncestors``), in any order.
    func descents(of text: Attribute, of object: UniqueID) throws -> [TextDescent]
    /// The version of a text that was current when the scope had the given sequence number. Returns the clock of this version; nil
    /// if there was none.
    func current(_ text: Attribute, of object: UniqueID, at sequence: Int64) throws -> Clock?
    /// Parcels of the deleted object whose words were rescued into `object`, the newest first. The result includes all parcels with
    /// an edit that has this clock, and may include others. Parcels that were added after the deletion are not included.
    func parcels(rescuedInto object: UniqueID, holding clock: Clock) throws -> [Parcel]
    /// The size and hash of the bytes of an attachment; nil if the server does not have the bytes.
    func attachmentData(of attachment: UniqueID) throws -> AttachmentData?
}

extension Bag {
    /// The states of these objects, with the default limit on the bytes that are loaded.
    public func states(of ids: [UniqueID]) throws -> [UniqueID: ObjectState] {
        var load = BagLoad(limit: Merge.Bounds().loadBytes)
        return try states(of: ids, counting: &load)
    }
}

/// A text whose ``Parcel/missingAncestors`` is not empty. Either the bag lacked ancestors of the text when the text arrived, or a
/// device resent the text to a restored server (merge.md, Descent).
public struct TextDescent: Sendable, Equatable {
    public let clock: Clock
    /// See ``Parcel/missingAncestors``.
    public let missingAncestors: [Clock]
    /// The scope's sequence number after the text was added.
    public let sequence: Int64

    public init(clock: Clock, missingAncestors: [Clock], sequence: Int64) {
        self.clock = clock
        self.missingAncestors = missingAncestors
        self.sequence = sequence
    }
}

/// The size and hash of the bytes of an attachment.
public struct AttachmentData: Sendable, Equatable {
    public let byteCount: Int64
    /// The SHA-256 hash of the bytes, in 64 hexadecimal digits.
    public let sha256: String

    public init(byteCount: Int64, sha256: String) {
        self.byteCount = byteCount
        self.sha256 = sha256
    }
}

/// The current state of an object: its folded attributes, or its DeletedObject.
public enum ObjectState: Sendable, Equatable {
    /// The folded attributes of the object.
    /// - Parameter sequence: the sequence number of the object's most recent change. Nil until the object's required field
    ///   (``Section/requiredField``) is set. Until then, the object does not exist.
    case entity(Entity, sequence: Int64?)
    case deleted(DeletedObject, sequence: Int64)

    public var sequence: Int64? {
        switch self {
        case .entity(_, let sequence): sequence
        case .deleted(_, let sequence): sequence
        }
    }
}

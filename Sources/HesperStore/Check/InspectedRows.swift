import HesperModel

/// What a check reads of a scope. The rows of each kind come in the order of the IDs of the objects that they are of, so
/// that all are walked side by side and memory does not grow with the scope.
public protocol InspectionSource {
    var head: ScopeHead { get }
    /// What the scope's row says beside its head.
    var greatestClock: Clock? { get }
    var indexedSequence: Int64 { get }
    var storage: Storage { get }
    func objects() throws -> InspectedRows<InspectedObject>
    func deletedObjects() throws -> InspectedRows<InspectedDeletedObject>
    /// Those of one object in the order of arrival.
    func parcels() throws -> InspectedRows<InspectedParcel>
    func members() throws -> InspectedRows<InspectedMember>
    /// IDs that some note is found by, each once or several times.
    func heldMembers() throws -> InspectedRows<UniqueID>
    func tagNames() throws -> InspectedRows<InspectedTagName>
    func documents() throws -> InspectedRows<InspectedDocument>
    func blobs() throws -> InspectedRows<InspectedBlob>
    /// Numbers that several objects or DeletedObjects have, and how many.
    func sequencesGivenTwice() throws -> [(sequence: Int64, count: Int64)]
}

/// Rows that are read one at a time.
public struct InspectedRows<Row> {
    private let read: () throws -> Row?
    private let id: (Row) -> UniqueID
    private var row: Row?

    /// - Parameters:
    ///   - id: what a row is in the order of.
    ///   - read: the next row; nil after the last.
    public init(by id: @escaping (Row) -> UniqueID, _ read: @escaping () throws -> Row?) throws {
        self.read = read
        self.id = id
        row = try read()
    }

    /// The ID of the next row.
    var next: UniqueID? { row.map(id) }

    /// The next rows, if they are of this ID.
    mutating func take(_ wanted: UniqueID) throws -> [Row] {
        var rows: [Row] = []
        while let found = row, id(found) == wanted {
            rows.append(found)
            row = try read()
        }
        return rows
    }
}

/// An object as it is kept. What could not be read at all is nil.
public struct InspectedObject {
    public let id: UniqueID
    public let section: Section?
    public let type: String?
    public let sequence: Int64?
    public let bytes: Int
    public let digest: Digest?
    public let body: [UInt8]

    public init(
        id: UniqueID, section: Section?, type: String?, sequence: Int64?, bytes: Int, digest: Digest?, body: [UInt8]
    ) {
        self.id = id
        self.section = section
        self.type = type
        self.sequence = sequence
        self.bytes = bytes
        self.digest = digest
        self.body = body
    }
}

public struct InspectedDeletedObject {
    public let id: UniqueID
    /// Nil if it is of no type that there is.
    public let deleted: DeletedObject?
    public let sequence: Int64?
    public let bytes: Int

    public init(id: UniqueID, deleted: DeletedObject?, sequence: Int64?, bytes: Int) {
        self.id = id
        self.deleted = deleted
        self.sequence = sequence
        self.bytes = bytes
    }
}

/// A row of the bag, with the clocks of its columns.
public struct InspectedParcel {
    public let object: UniqueID
    public let parcel: Result<Parcel, any Error>
    /// First, last, and the text's.
    public let clocks: [Clock?]
    /// The number of bytes of its body.
    public let bytes: Int
    /// Whether its checksum is that of its columns.
    public let isAsStored: Bool

    public init(
        object: UniqueID, parcel: Result<Parcel, any Error>, clocks: [Clock?], bytes: Int, isAsStored: Bool
    ) {
        self.bytes = bytes
        self.isAsStored = isAsStored
        self.object = object
        self.parcel = parcel
        self.clocks = clocks
    }
}

public struct InspectedMember {
    public let object: UniqueID
    public let member: UniqueID

    public init(object: UniqueID, member: UniqueID) {
        self.object = object
        self.member = member
    }
}

public struct InspectedTagName {
    public let tag: UniqueID
    public let foldedName: String

    public init(tag: UniqueID, foldedName: String) {
        self.tag = tag
        self.foldedName = foldedName
    }
}

/// What the index of terms has of a note.
public struct InspectedDocument {
    public let note: UniqueID
    public let sortDate: Timestamp
    public let archived: Bool
    public let textClock: Clock?
    /// Whether its terms are those of a text.
    public let hasTerms: (String) -> Bool

    public init(
        note: UniqueID, sortDate: Timestamp, archived: Bool, textClock: Clock?, hasTerms: @escaping (String) -> Bool
    ) {
        self.note = note
        self.sortDate = sortDate
        self.archived = archived
        self.textClock = textClock
        self.hasTerms = hasTerms
    }
}

public struct InspectedBlob {
    public let attachment: UniqueID
    public let data: AttachmentData
    /// Whether it is kept for a note that holds it.
    public let isHeld: Bool

    public init(attachment: UniqueID, data: AttachmentData, isHeld: Bool) {
        self.attachment = attachment
        self.data = data
        self.isHeld = isHeld
    }
}

import HesperModel

/// The rows of a scope, as read for a consistency check. The rows of each kind are ordered by the ID of their object. The check
/// reads all rows of one object, then all rows of the next object, so memory use does not depend on the size of the scope.
public protocol InspectionSource {
    var head: ScopeHead { get }
    /// The greatest clock of the scope's edits, as recorded in the scope's row; nil if none is recorded.
    var greatestClock: Clock? { get }
    var indexedSequence: Int64 { get }
    var storage: Storage { get }
    func objects() throws -> InspectedRows<InspectedObject>
    func deletedObjects() throws -> InspectedRows<InspectedDeletedObject>
    /// The parcels of each object, in the order in which they arrived.
    func parcels() throws -> InspectedRows<InspectedParcel>
    func members() throws -> InspectedRows<InspectedMember>
    /// The IDs of the tags and attachments that objects hold. If several objects hold the same tag or attachment, its ID occurs
    /// several times.
    func heldMembers() throws -> InspectedRows<UniqueID>
    func tagNames() throws -> InspectedRows<InspectedTagName>
    func documents() throws -> InspectedRows<InspectedDocument>
    func blobs() throws -> InspectedRows<InspectedBlob>
    /// The sequence numbers that were assigned more than once, each with the number of objects and DeletedObjects that have it.
    func duplicateSequences() throws -> [(sequence: Int64, count: Int64)]
}

/// Rows that are ordered by ID and read one at a time.
public struct InspectedRows<Row> {
    private let read: () throws -> Row?
    private let id: (Row) -> UniqueID
    private var row: Row?

    /// - Parameters:
    ///   - id: returns the ID by which rows are ordered.
    ///   - read: returns the next row; nil at the end.
    public init(by id: @escaping (Row) -> UniqueID, _ read: @escaping () throws -> Row?) throws {
        self.read = read
        self.id = id
        row = try read()
    }

    /// The ID of the next row; nil if there are no more rows.
    var next: UniqueID? { row.map(id) }

    /// Removes and returns the next rows that have this ID.
    mutating func take(_ expected: UniqueID) throws -> [Row] {
        var rows: [Row] = []
        while let next = row, id(next) == expected {
            rows.append(next)
            row = try read()
        }
        return rows
    }
}

/// A row of the table `objects`. A value that cannot be parsed is nil.
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

/// A row of the table `tombstones`, which contains the DeletedObjects.
public struct InspectedDeletedObject {
    public let id: UniqueID
    /// The DeletedObject; nil if its type is unknown.
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

/// A row of the table `edits`: a parcel, and the values of the row's clock columns.
public struct InspectedParcel {
    public let object: UniqueID
    public let parcel: Result<Parcel, any Error>
    /// The values of the columns `first_clock`, `last_clock` and `text_clock`.
    public let clocks: [Clock?]
    /// The value of the column `text_name`.
    public let textName: String?
    /// The size of the parcel's body in bytes.
    public let bytes: Int
    /// Whether the stored checksum matches the values of the row's columns.
    public let matchesChecksum: Bool

    public init(
        object: UniqueID, parcel: Result<Parcel, any Error>, clocks: [Clock?], textName: String?, bytes: Int,
        matchesChecksum: Bool
    ) {
        self.textName = textName
        self.bytes = bytes
        self.matchesChecksum = matchesChecksum
        self.object = object
        self.parcel = parcel
        self.clocks = clocks
    }
}

/// A row of the table `members`. `object` is the ID of a note or an app object. `member` is the ID of a tag or an attachment that
/// the object holds.
public struct InspectedMember {
    public let object: UniqueID
    public let member: UniqueID

    public init(object: UniqueID, member: UniqueID) {
        self.object = object
        self.member = member
    }
}

/// A row of the table `tag_names`.
public struct InspectedTagName {
    public let tag: UniqueID
    public let foldedName: String

    public init(tag: UniqueID, foldedName: String) {
        self.tag = tag
        self.foldedName = foldedName
    }
}

/// The entry of a note in the term index.
public struct InspectedDocument {
    public let note: UniqueID
    public let sortDate: Timestamp
    public let archived: Bool
    public let textClock: Clock?
    /// Returns whether the note has exactly the terms of the given text in the index.
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

/// A row of the table `blobs`.
public struct InspectedBlob {
    public let attachment: UniqueID
    public let data: AttachmentData
    /// Whether an object holds the attachment, according to the row.
    public let isHeld: Bool

    public init(attachment: UniqueID, data: AttachmentData, isHeld: Bool) {
        self.attachment = attachment
        self.data = data
        self.isHeld = isHeld
    }
}

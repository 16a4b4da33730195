import HesperModel

/// A query for the objects and DeletedObjects in a range of sequence numbers.
public struct Scan: Sendable, Equatable {
    /// The kinds of rows that are read.
    public enum Rows: Sendable, Equatable {
        /// Only live tags. A first sync begins with these.
        case tagsOnly
        /// Live objects other than tags, and DeletedObjects. A first sync continues with these.
        case withoutTags
        case all
    }

    public var selection: Selection
    public var rows: Rows
    public var sequences: ClosedRange<Int64>
    public var newestFirst: Bool
    /// The maximum number of rows that the reader needs. It limits how many rows the store prefetches.
    public var limit: Int
    /// Whether the reader needs the IDs of objects. On SQLite, reading them takes 4 % of the time of a first sync.
    public var needsIDs = true

    public init(
        _ selection: Selection, rows: Rows, sequences: ClosedRange<Int64>, newestFirst: Bool, limit: Int = .max
    ) {
        self.selection = selection
        self.rows = rows
        self.sequences = sequences
        self.newestFirst = newestFirst
        self.limit = limit
    }
}

/// One row of a scan. Its buffers are valid only until the next row is read.
public struct ScanRow {
    public enum Kind: Equatable {
        case object(Section)
        case deletedObject
    }

    public let kind: Kind
    public let sequence: Int64
    /// The 16 bytes of the object's ID. May be empty if ``Scan/needsIDs`` is false.
    public let idBytes: UnsafeRawBufferPointer
    /// The JSON of the object that is sent to clients.
    public let body: UnsafeRawBufferPointer

    public init(kind: Kind, sequence: Int64, idBytes: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer) {
        self.kind = kind
        self.sequence = sequence
        self.idBytes = idBytes
        self.body = body
    }

    /// The object's ID; nil if the stored bytes are not a valid ID.
    public func id() -> UniqueID? { UniqueID(bytes: idBytes) }
}

/// The number of objects that a scan returns, and the total size of their bodies in bytes.
public struct ScanSize: Sendable, Hashable {
    public var objects: Int
    public var bytes: Int

    public static let none = ScanSize(objects: 0, bytes: 0)

    public init(objects: Int, bytes: Int) {
        self.objects = objects
        self.bytes = bytes
    }
}

import HesperModel

/// A stretch of a scope's order of changes, to be read one way.
public struct Scan: Sendable, Equatable {
    /// Which rows of it are wanted.
    public enum Rows: Sendable, Equatable {
        /// Live tags alone: what a first sync begins with.
        case tagsOnly
        /// Live objects but tags, and DeletedObjects: what a first sync goes on with.
        case withoutTags
        /// All.
        case all
    }

    public var selection: Selection
    public var rows: Rows
    /// Sequence numbers, all of which are included.
    public var sequences: ClosedRange<Int64>
    public var newestFirst: Bool
    /// How many rows its reader takes at most: a store that reads ahead need not read further.
    public var limit: Int

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

/// One row of a scan. Its bytes are the store's and good only until the next row.
public struct ScanRow {
    public enum Kind: Equatable {
        case object(Section)
        case deletedObject
    }

    public let kind: Kind
    public let sequence: Int64
    /// The 16 bytes of its ID.
    public let idBytes: UnsafeRawBufferPointer
    /// Its JSON, as it is sent.
    public let body: UnsafeRawBufferPointer

    public init(kind: Kind, sequence: Int64, idBytes: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer) {
        self.kind = kind
        self.sequence = sequence
        self.idBytes = idBytes
        self.body = body
    }

    /// Its ID; nil if the store holds something else in its place.
    public func id() -> UniqueID? { UniqueID(bytes: idBytes) }
}

/// How much a scan has yet to give.
public struct ScanSize: Sendable, Hashable {
    public var objects: Int
    public var bytes: Int

    public static let none = ScanSize(objects: 0, bytes: 0)

    public init(objects: Int, bytes: Int) {
        self.objects = objects
        self.bytes = bytes
    }
}

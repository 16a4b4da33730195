import HesperModel

/// A query for the objects and DeletedObjects in a range of sequence numbers.
public struct Scan: Sendable, Equatable {
    /// The rows to read.
    public enum Rows: Sendable, Equatable {
        /// Only live tags, with which a first sync begins.
        case tagsOnly
        /// Live objects other than tags, and DeletedObjects, with which a first sync continues.
        case withoutTags
        case all
    }

    public var selection: Selection
    public var rows: Rows
    public var sequences: ClosedRange<Int64>
    public var newestFirst: Bool
    /// The maximum number of rows that the reader uses, as a limit for prefetching.
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

/// One row of a scan. Its buffers are valid only until the next row.
public struct ScanRow {
    public enum Kind: Equatable {
        case object(Section)
        case deletedObject
    }

    public let kind: Kind
    public let sequence: Int64
    /// The 16 bytes of the ID.
    public let idBytes: UnsafeRawBufferPointer
    /// The JSON that is sent to clients.
    public let body: UnsafeRawBufferPointer

    public init(kind: Kind, sequence: Int64, idBytes: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer) {
        self.kind = kind
        self.sequence = sequence
        self.idBytes = idBytes
        self.body = body
    }

    /// The ID; nil if the stored bytes are not one.
    public func id() -> UniqueID? { UniqueID(bytes: idBytes) }
}

/// The number of objects in a scan, and the size of their bodies.
public struct ScanSize: Sendable, Hashable {
    public var objects: Int
    public var bytes: Int

    public static let none = ScanSize(objects: 0, bytes: 0)

    public init(objects: Int, bytes: Int) {
        self.objects = objects
        self.bytes = bytes
    }
}

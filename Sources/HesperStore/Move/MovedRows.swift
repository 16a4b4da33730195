/// A value in a row that is being moved. Bytes are in the database's own memory. The value is valid only during the call that
/// receives it.
public enum MovedValue {
    case null
    /// An integer, a boolean as 0 or 1, or a date in milliseconds since 1970.
    case integer(Int64)
    case bytes(UnsafeRawBufferPointer)
}

/// The number of rows of a table, and the sum of the rows' hashes. If two databases have equal values, they contain the same
/// rows, in any order. Values are comparable only within one process, because the hash function differs between processes.
public struct MovedRows: Equatable {
    public private(set) var count = 0
    private var sum: UInt64 = 0

    public init() {}

    public mutating func add(_ row: [MovedValue]) {
        var hasher = Hasher()
        for value in row {
            switch value {
            case .null: hasher.combine(0 as UInt8)
            case .integer(let integer):
                hasher.combine(1 as UInt8)
                hasher.combine(integer)
            case .bytes(let bytes):
                hasher.combine(2 as UInt8)
                hasher.combine(bytes.count)
                hasher.combine(bytes: bytes)
            }
        }
        count += 1
        sum &+= UInt64(bitPattern: Int64(hasher.finalize()))
    }
}

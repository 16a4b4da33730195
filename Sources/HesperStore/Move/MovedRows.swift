/// A value of a moved row, in the database's own memory. It is valid only during the call that receives it.
public enum MovedValue {
    case null
    /// An integer, a boolean as 0 or 1, or a date.
    case integer(Int64)
    case bytes(UnsafeRawBufferPointer)
}

/// The number of rows and the sum of their hashes. Two databases with equal values have the same rows of a table, in any order.
/// The values of different processes cannot be compared, because hashes depend on the process.
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

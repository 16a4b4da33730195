import HesperModel

/// A row of a query result, from any supported database. It is valid only during the call that receives it. Columns are numbered
/// from 0, in the order of the SELECT list. Each database implements access to bytes, integers and dates. All other types are
/// decoded from these.
public protocol StoredRow {
    func isNull(_ column: Int32) -> Bool
    /// Returns an integer column, or a boolean column as 0 or 1. Returns 0 for null.
    func integer(_ column: Int32) -> Int64
    func timestamp(_ column: Int32) -> Timestamp
    /// Returns the column's bytes in the database's own buffer. The buffer is empty for null.
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer
    /// Returns the column's name, for error messages.
    func name(of column: Int32) -> String
}

extension StoredRow {
    @inlinable public func int(_ column: Int32) -> Int { Int(integer(column)) }
    @inlinable public func bool(_ column: Int32) -> Bool { integer(column) != 0 }
    @inlinable public func integerIfAny(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }
    @inlinable public func scope(_ column: Int32) -> ScopeID { ScopeID(integer(column)) }
    @inlinable public func timestampIfAny(_ column: Int32) -> Timestamp? { isNull(column) ? nil : timestamp(column) }
    @inlinable public func string(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }
    @inlinable public func stringIfAny(_ column: Int32) -> String? { isNull(column) ? nil : string(column) }

    @inlinable func pair(_ column: Int32) -> (UInt64, UInt64)? {
        let bytes = bytes(column)
        guard bytes.count == 16 else { return nil }
        return (
            UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
    }

    @inlinable public func idIfAny(_ column: Int32) -> UniqueID? {
        pair(column).map { UniqueID(high: $0.0, low: $0.1) }
    }

    @inlinable public func digestIfAny(_ column: Int32) -> Digest? {
        pair(column).map { Digest(high: $0.0, low: $0.1) }
    }

    @inlinable public func clockIfAny(_ column: Int32) -> Clock? {
        isNull(column) ? nil : Clock(bytes: bytes(column))
    }

    @inlinable public func nodeIfAny(_ column: Int32) -> NodeID? {
        let bytes = bytes(column)
        return bytes.count == 8 ? NodeID(UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))) : nil
    }

    @inlinable public func id(_ column: Int32) throws -> UniqueID { try require(idIfAny(column), column) }
    @inlinable public func digest(_ column: Int32) throws -> Digest { try require(digestIfAny(column), column) }
    @inlinable public func clock(_ column: Int32) throws -> Clock { try require(clockIfAny(column), column) }
    @inlinable public func node(_ column: Int32) throws -> NodeID { try require(nodeIfAny(column), column) }

    public func type(_ column: Int32) throws -> ObjectType { try require(ObjectType(string(column)), column) }

    @inlinable public func section(_ column: Int32) throws -> Section {
        try require(Section(rawValue: int(column)), column)
    }

    /// Returns `value`, or throws an error if it is nil. Hesper writes only values that it can decode, so nil means that the row
    /// is damaged or was changed with another tool.
    @inlinable func require<T>(_ value: T?, _ column: Int32) throws -> T {
        if let value { return value }
        throw StoreError.damaged("the column \(name(of: column)) has an invalid value")
    }
}

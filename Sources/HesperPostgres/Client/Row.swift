import CPostgres
import HesperModel
import HesperStore

/// A row of an answer, good only during the call that it is given to. Columns are counted from 0, as in the SELECT.
struct Row {
    private let answer: Answer
    private let index: Int32

    init(_ answer: Answer, _ index: Int32) {
        self.answer = answer
        self.index = index
    }

    func isNull(_ column: Int32) -> Bool { PQgetisnull(answer.handle, index, column) != 0 }

    /// The column's bytes where libpq has them, in binary; none for null.
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: PQgetvalue(answer.handle, index, column), count: Int(PQgetlength(answer.handle, index, column)))
    }

    private func kind(_ column: Int32) -> PostgresType? { PostgresType(rawValue: PQftype(answer.handle, column)) }

    /// Any integer, or a boolean as 0 and 1; 0 for null, as SQLite has it.
    func integer(_ column: Int32) -> Int64 {
        let bytes = bytes(column)
        switch (kind(column), bytes.count) {
        case (.int8, 8): return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
        case (.int4, 4): return Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
        case (.int2, 2): return Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
        case (.bool, 1): return Int64(bytes[0])
        case (_, 0) where isNull(column): return 0
        default:
            answer.misread(column, as: "integer")
            return 0
        }
    }

    func int(_ column: Int32) -> Int { Int(integer(column)) }
    func bool(_ column: Int32) -> Bool { integer(column) != 0 }
    func integerIfAny(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }
    func scope(_ column: Int32) -> ScopeID { ScopeID(integer(column)) }

    func timestampIfAny(_ column: Int32) -> Timestamp? { isNull(column) ? nil : timestamp(column) }

    func timestamp(_ column: Int32) -> Timestamp {
        let bytes = bytes(column)
        guard kind(column) == .date, bytes.count == 8 else {
            answer.misread(column, as: "date")
            return Timestamp(clamping: 0)
        }
        return Timestamp(
            clamping: PostgresDate.milliseconds(Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))))
    }

    func string(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }
    func stringIfAny(_ column: Int32) -> String? { isNull(column) ? nil : string(column) }

    private func pair(_ column: Int32) -> (UInt64, UInt64)? {
        let bytes = bytes(column)
        guard bytes.count == 16 else { return nil }
        return (
            UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
    }

    func idIfAny(_ column: Int32) -> UniqueID? { pair(column).map { UniqueID(high: $0.0, low: $0.1) } }
    func digestIfAny(_ column: Int32) -> Digest? { pair(column).map { Digest(high: $0.0, low: $0.1) } }
    func clockIfAny(_ column: Int32) -> Clock? { isNull(column) ? nil : Clock(bytes: bytes(column)) }

    func nodeIfAny(_ column: Int32) -> NodeID? {
        let bytes = bytes(column)
        return bytes.count == 8 ? NodeID(UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))) : nil
    }

    func id(_ column: Int32) throws -> UniqueID { try known(idIfAny(column), column) }
    func digest(_ column: Int32) throws -> Digest { try known(digestIfAny(column), column) }
    func clock(_ column: Int32) throws -> Clock { try known(clockIfAny(column), column) }
    func node(_ column: Int32) throws -> NodeID { try known(nodeIfAny(column), column) }

    func type(_ column: Int32) throws -> ObjectType { try known(ObjectType(string(column)), column) }
    func section(_ column: Int32) throws -> Section { try known(Section(rawValue: int(column)), column) }

    /// Whoever opens the database with `psql` may write what we never would; it is told, not passed on.
    private func known<T>(_ value: T?, _ column: Int32) throws -> T {
        if let value { return value }
        let name = PQfname(answer.handle, column).map { String(cString: $0) } ?? "?"
        throw StoreError.damaged("the column \(name) has a value that is none of its kind")
    }
}

import CPostgres
import HesperModel
import HesperStore

/// A row of a query result in libpq's memory.
struct Row: StoredRow {
    private let result: QueryResult
    private let index: Int32

    init(_ result: QueryResult, _ index: Int32) {
        self.result = result
        self.index = index
    }

    func isNull(_ column: Int32) -> Bool { PQgetisnull(result.handle, index, column) != 0 }

    /// The value of a column in PostgreSQL's binary format.
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: PQgetvalue(result.handle, index, column), count: Int(PQgetlength(result.handle, index, column)))
    }

    private func kind(_ column: Int32) -> PostgresType? { PostgresType(rawValue: PQftype(result.handle, column)) }

    func integer(_ column: Int32) -> Int64 {
        let bytes = bytes(column)
        switch (kind(column), bytes.count) {
        case (.int8, 8): return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
        case (.int4, 4): return Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
        case (.int2, 2): return Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
        case (.bool, 1): return Int64(bytes[0])
        case (_, 0) where isNull(column): return 0
        default:
            result.misread(column, as: "integer")
            return 0
        }
    }

    func timestamp(_ column: Int32) -> Timestamp {
        let bytes = bytes(column)
        guard kind(column) == .date, bytes.count == 8 else {
            result.misread(column, as: "date")
            return Timestamp(clamping: 0)
        }
        return Timestamp(
            clamping: PostgresDate.milliseconds(Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))))
    }

    func name(of column: Int32) -> String { PQfname(result.handle, column).map { String(cString: $0) } ?? "?" }
}

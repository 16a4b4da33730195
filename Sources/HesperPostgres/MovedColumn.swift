import HesperModel
import HesperStore

/// Converts the values of a column from and to PostgreSQL's binary format when a table is moved to another database.
extension MovedTable.Column {
    /// The value as a parameter. `.bytes` may be used for columns of the types `bytea`, `uuid`, `text` and `json`, because in
    /// PostgreSQL's binary format all these are the bytes themselves.
    func argument(_ value: MovedValue) -> PostgresValue {
        switch (value, kind) {
        case (.null, _): .null
        case (.bytes(let bytes), _): .bytes(Array(bytes))
        case (.integer(let integer), .small): .int2(Int16(clamping: integer))
        case (.integer(let integer), .bool): .bool(integer != 0)
        case (.integer(let integer), .date): .date(Timestamp(clamping: integer))
        case (.integer(let integer), _): .int8(integer)
        }
    }

    func value(of field: UnsafeRawBufferPointer?) throws -> MovedValue {
        guard let field else { return .null }
        switch (kind, field.count) {
        case (.text, _), (.bytes, _): return .bytes(field)
        case (.integer, 8): return .integer(Int64(bigEndian: field.loadUnaligned(as: Int64.self)))
        case (.date, 8):
            return .integer(PostgresDate.milliseconds(Int64(bigEndian: field.loadUnaligned(as: Int64.self))))
        case (.small, 2): return .integer(Int64(Int16(bigEndian: field.loadUnaligned(as: Int16.self))))
        case (.bool, 1): return .integer(Int64(field[0]))
        default: throw StoreError.damaged("column \(name): unexpected value of \(field.count) bytes")
        }
    }
}

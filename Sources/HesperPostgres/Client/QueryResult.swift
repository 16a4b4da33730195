import CPostgres
import HesperStore

/// The result of one statement. All its rows stay in memory until it is released.
final class QueryResult {
    let handle: OpaquePointer
    let rowCount: Int32
    /// The error for the first column that was read as a wrong type; nil if there was none.
    fileprivate(set) var misread: StoreError?

    init(_ handle: OpaquePointer) {
        self.handle = handle
        rowCount = PQntuples(handle)
    }

    deinit { PQclear(handle) }

    /// The number of rows that were changed or returned.
    var changed: Int { PQcmdTuples(handle).flatMap { Int(String(cString: $0)) } ?? 0 }

    /// The approximate number of bytes that the rows take in memory.
    var byteCount: Int { PQresultMemorySize(handle) }

    /// Calls `body` for one row and returns its result.
    /// - Throws: ``StoreError/damaged(_:)`` if `body` read a column as a wrong type.
    func row<T>(_ index: Int32, _ body: (Row) throws -> T) throws -> T {
        let result = try body(Row(self, index))
        if let misread { throw misread }
        return result
    }

    /// Records that a column was read as a wrong type. This happens only if someone has changed the type of the column, for example
    /// with `psql`. The result is then reported as damaged, so that no wrong value is used.
    func misread(_ column: Int32, as what: String) {
        let name = PQfname(handle, column).map { String(cString: $0) } ?? "\(column)"
        misread =
            misread
            ?? .damaged("column \(name) has the type with OID \(PQftype(handle, column)) and cannot be read as \(what)")
    }
}

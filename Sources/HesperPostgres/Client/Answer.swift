import CPostgres
import HesperStore

/// What came of one statement: all its rows, in memory until nobody has it any more.
final class Answer {
    let handle: OpaquePointer
    let rowCount: Int32
    /// The first column that was asked for what it can not be.
    fileprivate(set) var misread: StoreError?

    init(_ handle: OpaquePointer) {
        self.handle = handle
        rowCount = PQntuples(handle)
    }

    deinit { PQclear(handle) }

    /// How many rows were changed, or given.
    var changed: Int { PQcmdTuples(handle).flatMap { Int(String(cString: $0)) } ?? 0 }

    /// How many bytes the rows take, about.
    var byteCount: Int { PQresultMemorySize(handle) }

    /// Gives one row.
    func row<T>(_ index: Int32, _ body: (Row) throws -> T) throws -> T {
        let result = try body(Row(self, index))
        if let misread { throw misread }
        return result
    }

    /// The types do not depend on what is kept, but whoever has `psql` can change them; it is told, not passed on.
    func misread(_ column: Int32, as what: String) {
        let name = PQfname(handle, column).map { String(cString: $0) } ?? "\(column)"
        misread = misread ?? .damaged("the column \(name) of type \(PQftype(handle, column)) is no \(what)")
    }
}

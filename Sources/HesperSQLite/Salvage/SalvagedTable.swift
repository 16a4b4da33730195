import Foundation
import GRDB
import HesperModel
import HesperStore

/// A table of a new database into which rows of a damaged database are copied. The pages of the damaged database do not record
/// to which table a row belongs, so each table recognizes its rows by their values.
struct SalvagedTable {
    private struct Column {
        let name: String
        let storage: DatabaseValue.Storage.Kind
        /// Whether a row may end before this column, because the row was written before the column was added.
        let isOptional: Bool
        let isNullable: Bool
        /// Whether the column is an alias of the row ID. In a stored row, such a column contains NULL.
        let isRowID: Bool
    }

    let name: String
    private let columns: [Column]
    /// Checks the contents of a row; false if the row cannot belong to this table. ``accepts(_:)`` calls this function after it has
    /// checked the types of the row's values.
    private let isSound: ([DatabaseValue]) -> Bool

    init(_ name: String, of database: Database, where isSound: @escaping ([DatabaseValue]) -> Bool) throws {
        self.name = name
        self.isSound = isSound
        let described = try Row.fetchAll(
            database, sql: "SELECT name, type, \"notnull\", dflt_value, pk FROM pragma_table_info(?)", arguments: [name]
        )
        let keyCount = described.count { row in row[4] as Int > 0 }
        columns = described.map { row in
            let (type, key): (String, Int) = (row[1], row[4])
            let isRowID = type == "INTEGER" && key == 1 && keyCount == 1
            let isRequired: Bool = row[2]
            let hasDefault = !row.hasNull(atIndex: 3)
            return Column(
                name: row[0], storage: type == "INTEGER" ? .integer : type == "TEXT" ? .text : .blob,
                isOptional: !isRequired || hasDefault, isNullable: !isRequired, isRowID: isRowID)
        }
    }

    /// Whether these values can be a row of this table.
    func accepts(_ values: [DatabaseValue]) -> Bool {
        guard values.count <= columns.count, columns.dropFirst(values.count).allSatisfy(\.isOptional) else {
            return false
        }
        let fits = zip(columns, values).allSatisfy { column, value in
            if column.isRowID { return value.isNull }
            return value.isNull ? column.isNullable : value.storage.kind == column.storage
        }
        return fits && isSound(values)
    }

    /// Inserts a row unless the table contains a row with the same key.
    func insert(_ rowID: Int64, _ values: [DatabaseValue], into database: Database) throws {
        let named = zip(columns, values).map { ($0.name, $0.isRowID ? rowID.databaseValue : $1) }
        let marks = named.map { _ in "?" }.joined(separator: ", ")
        let statement = try database.cachedStatement(
            sql: "INSERT OR IGNORE INTO \(name) (\(named.map(\.0).joined(separator: ", "))) VALUES (\(marks))")
        try statement.execute(arguments: StatementArguments(named.map(\.1)))
    }
}

extension SalvagedTable {
    /// The tables that have row IDs and must be copied. They do not include the tables that a restore empties, or the tables whose
    /// rows can be computed from other tables.
    static func withRowIDs(of database: Database) throws -> [SalvagedTable] {
        try [
            SalvagedTable("installation", of: database) { $0.isBlob(2, of: 8) },
            SalvagedTable("scopes", of: database) { $0.isBlob(2, of: 16) },
            SalvagedTable("accounts", of: database) { $0.isBlob(0, of: 16) },
            SalvagedTable("objects", of: database, where: isObject),
            SalvagedTable("edits", of: database, where: isParcel),
            SalvagedTable("tombstones", of: database) {
                $0.isBlob(2, of: 16) && ObjectType($0.text(3)) != nil
            },
            SalvagedTable("blobs", of: database) { $0.isBlob(2, of: 16) && $0.text(5).isSHA256 },
        ]
    }

    static func revocations(of database: Database) throws -> SalvagedTable {
        try SalvagedTable("revocations", of: database) { $0.isBlob(1, of: 8) }
    }

    /// Whether these are the values of an object: the digest that is stored in the row must be the digest of the body.
    private static func isObject(_ values: [DatabaseValue]) -> Bool {
        guard values.count == 9, let id = UniqueID(bytes: values.blob(2)),
            let section = Section(rawValue: values.int(3)),
            let entity = entity(values.text(8), id, section), entity.body == Array(values.text(8).utf8)
        else { return false }
        return entity.digest == Digest(bytes: values.blob(7))
    }

    private static func entity(_ body: String, _ id: UniqueID, _ section: Section) -> Entity? {
        Array(body.utf8).withUnsafeBytes { try? Entity.read($0, id: id, section: section) }
    }

    /// Whether these are the values of a parcel: the clocks in the columns of the row must be the clocks of the edits in the body.
    private static func isParcel(_ values: [DatabaseValue]) -> Bool {
        guard values.count >= 13, let id = UniqueID(bytes: values.blob(2)),
            values[6].isNull || ObjectType(values.text(6)) != nil,
            let edits = Array(values.text(12).utf8).withUnsafeBytes({ try? ParcelBody.read($0) })
        else { return false }
        let parcel = Parcel(object: id, objectType: nil, edits: edits)
        return [parcel.firstClock, parcel.lastClock, parcel.textClock] == (8...10).map { values.clock($0) }
    }
}

extension DatabaseValue.Storage {
    enum Kind { case null, integer, real, text, blob }

    fileprivate var kind: Kind {
        switch self {
        case .null: .null
        case .int64: .integer
        case .double: .real
        case .string: .text
        case .blob: .blob
        }
    }
}

/// Access to the values of a row by position. If there is no value at the position, or if it has another type, the result is -1,
/// empty or nil.
extension [DatabaseValue] {
    func int(_ index: Int) -> Int { indices.contains(index) ? Int.fromDatabaseValue(self[index]) ?? -1 : -1 }
    func text(_ index: Int) -> String { indices.contains(index) ? String.fromDatabaseValue(self[index]) ?? "" : "" }

    func blob(_ index: Int) -> [UInt8] {
        guard indices.contains(index), case .blob(let data) = self[index].storage else { return [] }
        return [UInt8](data)
    }

    func clock(_ index: Int) -> Clock? { Clock(bytes: blob(index)) }
    func isBlob(_ index: Int, of count: Int) -> Bool { blob(index).count == count }
}

extension String {
    fileprivate var isSHA256: Bool { utf8.count == 64 && allSatisfy { $0.isHexDigit && !$0.isUppercase } }
}

package import GRDB

/// An order of objects. Objects with equal values are ordered by their IDs, so the order is the same on every device.
///
///     store.values(Recipe.self, order: .ascending(\.$title))
///     store.values(Recipe.self, order: [.descending(\.$isFavorite), .ascending(\.$title)])
///
/// Texts are ordered by their bytes, enums by their raw values. Objects without a value come first in ascending order.
public struct Order<Object: SyncedObject>: Sendable, ExpressibleByArrayLiteral {
    private var terms: [(column: Column, isDescending: Bool)]

    private init(_ column: Column, isDescending: Bool) { terms = [(column, isDescending)] }

    /// Creates an order by several properties: objects with equal values of the first property are ordered by the second property,
    /// and so on.
    public init(arrayLiteral orders: Order...) { terms = orders.flatMap(\.terms) }

    /// Orders from the smallest value to the greatest.
    public static func ascending<Value: MergedValue>(_ path: KeyPath<Object, Merged<Value>>) -> Self {
        Order(Field(path).column, isDescending: false)
    }

    /// Orders from the greatest value to the smallest.
    public static func descending<Value: MergedValue>(_ path: KeyPath<Object, Merged<Value>>) -> Self {
        Order(Field(path).column, isDescending: true)
    }

    /// Orders by a property of the object or of one of its records, from the smallest value to the greatest: `.ascending {
    /// $0.$servings.count }`.
    public static func ascending<Value: MergedValue>(_ field: (Fields<Object>) -> Field<Object, Value>) -> Self {
        Order(field(Fields()).column, isDescending: false)
    }

    /// Orders by a property of the object or of one of its records, from the greatest value to the smallest: `.descending {
    /// $0.$servings.count }`.
    public static func descending<Value: MergedValue>(_ field: (Fields<Object>) -> Field<Object, Value>) -> Self {
        Order(field(Fields()).column, isDescending: true)
    }

    /// The terms of the `ORDER BY` clause for an order. Without an order, objects are ordered by their IDs.
    package static func sql(_ order: Order?) throws -> SQL {
        let terms = order?.terms ?? []
        let isDescending = terms.last?.isDescending ?? false
        let parts = try terms.map { "\(try $0.column.ordering)\($0.isDescending ? " DESC" : "")" }
        // The last term is `id`. Every index that ``Index`` creates has `id` as its second column, so SQLite can sort with the
        // index.
        return SQL(sql: (parts + ["id" + (isDescending ? " DESC" : "")]).joined(separator: ", "))
    }
}

/// An index for one property. With it, filtering and sorting by this property is fast.
///
///     static let indexes = [Index(\Recipe.$title)]
public struct Index<Object: SyncedObject>: Sendable {
    private let column: Column

    /// Creates the index of a property.
    public init<Value: MergedValue>(_ path: KeyPath<Object, Merged<Value>>) { column = Field(path).column }

    /// Creates the index of a property of a record: `Index { $0.$servings.count }`.
    public init<Value: MergedValue>(_ field: (Fields<Object>) -> Field<Object, Value>) {
        column = field(Fields()).column
    }

    /// The name of the index. It contains the indexed expression, which contains the default of the property. If the default
    /// changes, the name changes too, and a new index is created.
    package var name: String { get throws { "index.\(Object.objectType).\(try column.indexed)" } }

    /// The statement that creates the index, unless it exists.
    package func sql(table: String) throws -> String {
        let name = try name.replacing("\"", with: "\"\"")
        return "CREATE INDEX IF NOT EXISTS \"\(name)\" ON \(table) (\(try column.indexed), id)"
    }
}

extension Column {
    /// The SQL expression of the column in an `ORDER BY` clause.
    fileprivate var ordering: String {
        get throws {
            switch self {
            case .id, .attribute, .counter: return sql
            case .set, .record: throw StoreError.invalidQuery("Objects cannot be ordered by a set or a record.")
            case .unknown: throw StoreError.invalidQuery(Column.unknownMessage)
            }
        }
    }

    /// The SQL expression of the column in an index.
    fileprivate var indexed: String {
        get throws {
            switch self {
            case .id, .attribute: return sql
            case .counter, .set, .record:
                throw StoreError.invalidType("A set, a counter or a record cannot have an index.")
            case .unknown: throw StoreError.invalidType(Column.unknownMessage)
            }
        }
    }
}

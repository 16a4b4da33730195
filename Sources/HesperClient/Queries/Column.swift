internal import HesperModel

/// The operand of a predicate, an order or an index: a column of a type's table, or a value in the JSON of the table's column
/// `body`.
enum Column: Sendable, Equatable {
    case id
    /// A register, or a field that is set once. `absent` is the value to use for objects that do not have the register or the
    /// field.
    case attribute(String, absent: Absent)
    case counter(String)
    /// A set. The names of its registers begin with the name of the set and a dot. `absent` lists the registers of the elements that
    /// the set contains by default.
    case set(String, absent: [String])
    /// A record. Predicates cannot compare it as a whole, only its properties.
    case record(String)
    /// The key path does not lead to a property that syncs.
    case unknown

    enum Absent: Sendable, Equatable {
        case value(Value)
        case attribute(String)
    }

    init<Object: SyncedObject>(attribute name: String, in shape: Shape<Object>) {
        switch shape.kind(of: name) {
        case .counter: self = .counter(name)
        case .set: self = .set(name, absent: shape.defaults.keys.filter { $0.hasPrefix(name + ".") })
        case .text: self = .attribute(name, absent: .value(.string("")))
        case .file: self = .attribute(name, absent: .value(.null))
        case .scalar:
            if case .field(let other)? = shape.names.isBuiltIn ? HesperModel.Field(rawValue: name)?.defaultValue : nil {
                self = .attribute(name, absent: .attribute(other.rawValue))
            } else {
                self = .attribute(name, absent: .value(shape.defaults[name] ?? .null))
            }
        case .record: self = .record(name)
        case nil: self = .unknown
        }
    }

    /// The SQL expression of the column. It contains no bound parameters: an index cannot contain them, and SQLite uses an index on
    /// an expression only if the query contains the same expression.
    var sql: String {
        switch self {
        case .id: "id"
        case .attribute(let name, .value(.null)): Column.json(name)
        case .attribute(let name, .value(let value)): "coalesce(\(Column.json(name)), \(Column.literal(value)))"
        case .attribute(let name, .attribute(let other)): "coalesce(\(Column.json(name)), \(Column.json(other)))"
        case .counter(let name):
            // The names of a counter's registers begin with `name` and a dot. The slash follows the dot in ASCII, so the names are
            // those between `name.` and `name/`.
            """
            (SELECT coalesce(sum(value), 0) FROM json_each(body)
            WHERE key > '\(name).' AND key < '\(name)/' AND type = 'integer')
            """
        case .set, .record, .unknown: "NULL"
        }
    }

    /// The SQL expression of an attribute in `body`. Names of attributes need no escaping: they consist of letters, digits, "_", "."
    /// and "-".
    static func json(_ attribute: String) -> String { "body ->> '$.\"\(attribute)\"'" }

    private static func literal(_ value: Value) -> String {
        switch value {
        case .null: "NULL"
        case .bool(let flag): flag ? "1" : "0"
        case .integer(let number): String(number)
        case .number(let number): String(number)
        case .string(let text): "'\(text.replacing("'", with: "''"))'"
        case .date(let date): "'\(date)'"
        }
    }
}

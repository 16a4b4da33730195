internal import Foundation
package import GRDB
package import HesperModel

/// A predicate on the objects of a type.
///
///     store.values(Recipe.self, where: { $0.$title.contains("soup") && $0.$servings.count > 2 })
///
/// An attribute that an object does not have is read as the property's default. Texts are compared by their bytes,
/// enums by their raw values.
public struct Condition<Object: SyncedObject>: Sendable {
    let expression: Expression

    init(_ expression: Expression) { self.expression = expression }

    public static func && (left: Self, right: Self) -> Self { Condition(.both(left.expression, right.expression)) }
    public static func || (left: Self, right: Self) -> Self { Condition(.either(left.expression, right.expression)) }
    public static prefix func ! (condition: Self) -> Self { Condition(.not(condition.expression)) }

    /// The condition as an SQL expression.
    package func sql(_ context: QueryContext = QueryContext()) throws -> SQL { try expression.sql(context) }
}

/// The information about the local copy that a predicate needs.
package struct QueryContext {
    /// Takes the ID of a tag or an attachment, and returns all IDs by which a note may refer to it: the given ID and, for a tag,
    /// the IDs of the tags that were merged into this tag. Returns no IDs if the tag or attachment is not live (merge.md,
    /// Membership).
    package var sources: (UniqueID) throws -> [UniqueID]

    package init(sources: @escaping (UniqueID) throws -> [UniqueID] = { [$0] }) { self.sources = sources }
}

indirect enum Expression: Sendable {
    case compare(Column, Operator, Value)
    case isIn(Column, [Value])
    case containsText(Column, String)
    /// Whether the set in a column contains an element. `key` is the last part of the name of the element's register. `id` is the
    /// ID of a tag or an attachment; nil for other elements. If other tags were merged into the tag, their registers count too.
    case containsElement(Column, key: String, id: UniqueID?)
    case both(Expression, Expression)
    case either(Expression, Expression)
    case not(Expression)
    case invalid(String)

    enum Operator: String, Sendable {
        case equal = "="
        case notEqual = "<>"
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
    }

    func sql(_ context: QueryContext) throws -> SQL {
        switch self {
        case .compare(let column, let comparison, let value): try compare(column, comparison, value)
        case .isIn(let column, let values): try isIn(column, values)
        case .containsText(let column, let text):
            "\(sql: TextFunction.name)(\(try column.checked), \(text))"
        case .containsElement(let column, let key, let id): try containsElement(column, key, id, context)
        case .both(let left, let right): "(\(try left.sql(context)) AND \(try right.sql(context)))"
        case .either(let left, let right): "(\(try left.sql(context)) OR \(try right.sql(context)))"
        // The expression is NULL if a compared value is absent. `coalesce` replaces NULL by 0 (false), so that the negation is
        // true.
        case .not(let expression): "NOT coalesce(\(try expression.sql(context)), 0)"
        case .invalid(let message): throw StoreError.invalidQuery(message)
        }
    }

    private func compare(_ column: Column, _ comparison: Operator, _ value: Value) throws -> SQL {
        let expression = try column.checked
        let argument = column == .id ? value.idValue : value.databaseValue
        switch (comparison, value) {
        case (.equal, .null): return "\(expression) IS NULL"
        case (.notEqual, .null): return "\(expression) IS NOT NULL"
        case (.notEqual, _): return "\(expression) IS NOT \(argument)"
        case (.equal, _), (.less, _), (.lessOrEqual, _), (.greater, _), (.greaterOrEqual, _):
            return "\(expression) \(sql: comparison.rawValue) \(argument)"
        }
    }

    private func isIn(_ column: Column, _ values: [Value]) throws -> SQL {
        let expression = try column.checked
        let arguments = values.filter { $0 != .null }.map { column == .id ? $0.idValue : $0.databaseValue }
        // `IN` is used because it can use an index. SQLite accepts at most 32,766 parameters in a statement; the smaller limit
        // here leaves room for the parameters of other conditions.
        guard arguments.count <= 30_000 else {
            throw StoreError.invalidQuery("isIn accepts at most 30,000 values, not \(arguments.count).")
        }
        let isAmong: SQL = "\(expression) IN \(arguments)"
        return values.contains(.null) ? "(\(isAmong) OR \(expression) IS NULL)" : isAmong
    }

    private func containsElement(
        _ column: Column, _ key: String, _ id: UniqueID?, _ context: QueryContext
    ) throws -> SQL {
        guard case .set(let name, let absent) = column else { throw StoreError.invalidQuery(Column.unknownMessage) }
        let keys = try id.map { try context.sources($0).map(\.description) } ?? [key]
        guard !keys.isEmpty else { return "0" }
        if keys.count == 1 {
            let attribute = "\(name).\(keys[0])"
            if absent.contains(attribute) {
                return "coalesce(body -> '$.\"\(sql: attribute)\"' NOT IN ('false', 'null'), 1)"
            }
            return "coalesce(\(sql: Column.json(attribute)) <> 0, 0)"
        }
        // The tag has several registers in the set, because other tags were merged into it. The register with the greatest clock
        // determines whether the set contains the tag (merge.md, Membership).
        let registers = keys.map { key -> SQL in
            let attribute = "\(name).\(key)"
            return "SELECT \(sql: Column.json(attribute)) AS isIn, clocks ->> '$.\"\(sql: attribute)\"' AS clock"
        }
        return """
            coalesce((SELECT isIn FROM (\(registers.joined(separator: " UNION ALL ")))
            WHERE isIn IS NOT NULL ORDER BY clock DESC, isIn DESC LIMIT 1), 0)
            """
    }
}

extension Column {
    static let unknownMessage = "A key path in the query does not lead to a property declared with @Merged."

    /// The expression as SQL. Throws if the key path is unknown.
    fileprivate var checked: SQL {
        get throws {
            if self == .unknown { throw StoreError.invalidQuery(Column.unknownMessage) }
            return SQL(sql: sql)
        }
    }
}

extension Value {
    /// The value in the form that SQLite's operator `->>` returns for a value in `body`, so that the two can be compared.
    fileprivate var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .bool(let flag): flag.databaseValue
        case .integer(let number): number.databaseValue
        case .number(let number): number.databaseValue
        case .string(let text): text.databaseValue
        case .date(let date): date.description.databaseValue
        }
    }

    /// The value to compare with the column `id`.
    fileprivate var idValue: DatabaseValue {
        guard case .string(let text) = self, let id = UniqueID(text) else { return .null }
        return Data(id.bytes).databaseValue
    }
}

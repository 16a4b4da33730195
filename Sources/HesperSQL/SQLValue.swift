import HesperModel
import HesperStore

/// The value of a parameter. Each database converts it to the type of the column.
public enum SQLValue: Sendable, Equatable {
    case null
    case integer(Int64)
    case bool(Bool)
    case text(String)
    /// A JSON document, as text in UTF-8.
    case json([UInt8])
    case bytes([UInt8])
    case date(Timestamp)
    case id(UniqueID)
    case node(NodeID)
    case clock(Clock)
    case digest(Digest)
}

extension SQLValue {
    public static func int(_ value: Int) -> SQLValue { .integer(Int64(value)) }
    public static func scope(_ value: ScopeID) -> SQLValue { .integer(value.rawValue) }
    public static func token(_ value: TokenHash) -> SQLValue { .bytes(value.bytes) }
    /// The number of rows for a LIMIT clause. A negative number is treated as 0.
    public static func limit(_ value: Int) -> SQLValue { .int(max(value, 0)) }

    public static func integer(_ value: Int64?) -> SQLValue { value.map { .integer($0) } ?? .null }
    public static func text(_ value: String?) -> SQLValue { value.map { .text($0) } ?? .null }
    public static func date(_ value: Timestamp?) -> SQLValue { value.map { .date($0) } ?? .null }
    public static func id(_ value: UniqueID?) -> SQLValue { value.map { .id($0) } ?? .null }
    public static func node(_ value: NodeID?) -> SQLValue { value.map { .node($0) } ?? .null }
}

/// The types of parameters and columns, by their OIDs (PostgreSQL, pg_type.dat).
enum PostgresType: UInt32, Sendable {
    case bool = 16
    case bytes = 17
    case int8 = 20
    case int2 = 21
    case int4 = 23
    case text = 25
    case json = 114
    case date = 1_184
    case uuid = 2_950

    /// The OID of the type of arrays whose elements have this type.
    var array: UInt32 {
        switch self {
        case .bool: 1_000
        case .bytes: 1_001
        case .int8: 1_016
        case .int2: 1_005
        case .int4: 1_007
        case .text: 1_009
        case .json: 199
        case .date: 1_185
        case .uuid: 2_951
        }
    }
}

/// Converts dates from and to PostgreSQL's binary format of `timestamptz`, which is the number of microseconds since 2000.
enum PostgresDate {
    /// 2000-01-01, in milliseconds since 1970.
    private static let epoch: Int64 = 946_684_800_000

    static func microseconds(_ milliseconds: Int64) -> Int64 { (milliseconds - epoch) * 1_000 }

    /// The milliseconds since 1970, rounded down, so that a date that is read is never later than the stored date. The value
    /// `infinity` becomes a date in the distant future.
    static func milliseconds(_ microseconds: Int64) -> Int64 {
        let (quotient, remainder) = microseconds.quotientAndRemainder(dividingBy: 1_000)
        return quotient - (remainder < 0 ? 1 : 0) + epoch
    }
}

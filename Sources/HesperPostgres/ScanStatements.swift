import HesperStore

/// Builds the statement of a scan, which reads a feed. The statement is a union of parts. Each part reads one index in the order of
/// the result, and has a limit. Without parts and limits, the planner would read and sort all rows, because it does not know how
/// many rows the scope has. Types that Hesper defines are written into the SQL text. Other types are arguments.
struct ScanStatements {
    let reach: ScanFilter
    /// The types of app objects to which the scan is limited, in the order of the arguments.
    private let types: [String]

    /// If the scan names at most this number of types of app objects, the statement has one part for each type. Otherwise, one
    /// part reads all app objects and filters them by type.
    private static let partLimit = 4
    /// The number in the name of the first parameter that is a type: `$5`.
    private static let firstType = 5
    private static let own: Set<String> = ["note", "tag", "attachment"]

    init(_ scan: Scan) {
        reach = ScanFilter(scan)
        var types: [String] = []
        for reached in [reach.objects, reach.deleted] {
            if case .some(let names, false) = reached { types += names.filter { !ScanStatements.own.contains($0) } }
        }
        self.types = Set(types).sorted()
    }

    /// The types, which are the arguments after the first four: one argument for each type, or a single array if there are more
    /// than ``partLimit`` types.
    var arguments: [PostgresValue] {
        guard !types.isEmpty else { return [] }
        return types.count > ScanStatements.partLimit ? [.textArray(types)] : types.map { .text($0) }
    }

    /// The statement that reads the rows; nil if the scan selects none. Parameters: scope, first sequence, last sequence, maximum
    /// number of rows, ``arguments``. Columns: sequence, id, section, body, type, merged_into, deletion_date. For an object, the
    /// last three columns are null. For a DeletedObject, section and body are null. Once the total size of the bodies has reached
    /// ``resultBytes``, all further bodies are null.
    func rows(newestFirst: Bool) -> String? {
        let objects = """
            SELECT sequence, id, section, body, bytes, NULL::text AS type, NULL::uuid AS merged_into,
                NULL::timestamptz AS deletion_date FROM objects
            """
        let deleted = """
            SELECT sequence, id, NULL::smallint AS section, NULL::json AS body, bytes, type, merged_into, deletion_date
            FROM tombstones
            """
        let order = "ORDER BY sequence \(newestFirst ? "DESC" : "ASC")"
        let parts = parts(objects: objects, deleted: deleted).map { "(\($0) \(order) LIMIT $4)" }
        guard !parts.isEmpty else { return nil }
        let rows = parts.count == 1 ? parts[0] : "(\(parts.joined(separator: "\nUNION ALL ")) \(order) LIMIT $4)"
        // `bytes` is cast to integer because the sum of a bigint column is a numeric, which is slower. Every body is smaller
        // than 2 GiB.
        return """
            SELECT sequence, id, section,
                CASE WHEN sum(bytes::integer) OVER (\(order) ROWS UNBOUNDED PRECEDING) - bytes < \(ScanStatements.resultBytes)
                THEN body END, type, merged_into, deletion_date
            FROM \(rows) AS rows \(order)
            """
    }

    /// A limit on the bodies in a result, in bytes. When the bodies reach this total size, all further bodies are omitted, because
    /// all rows of a result are in memory. Computing this size takes about a sixth of the time of a first sync.
    private static let resultBytes = 8 << 20

    /// The statement that reads the number of rows and the total size of their bodies in bytes; nil if the scan selects none. It
    /// reads only indexes. Its parameters are those of ``rows(newestFirst:)``, but it ignores the fourth, the maximum number of
    /// rows.
    var amount: String? {
        let parts = parts(objects: "SELECT bytes FROM objects", deleted: "SELECT bytes FROM tombstones")
        guard !parts.isEmpty else { return nil }
        return """
            SELECT count(*), coalesce(sum(bytes), 0)::bigint
            FROM (\(parts.joined(separator: "\nUNION ALL "))) AS rows WHERE $4::bigint IS NOT NULL
            """
    }

    private func parts(objects: String, deleted: String) -> [String] {
        func end(_ conditions: [String]) -> [String] {
            conditions.map { "WHERE scope = $1 AND sequence BETWEEN $2 AND $3\($0.isEmpty ? "" : " AND \($0)")" }
        }
        return end(conditions(reach.objects, ofApps: "section = 3")).map { "\(objects) \($0)" }
            + end(conditions(reach.deleted, ofApps: "type NOT IN ('note', 'tag', 'attachment')"))
            .map { "\(deleted) \($0)" }
    }

    private func conditions(_ types: ScanFilter.Types, ofApps: String) -> [String] {
        switch types {
        case .none: return []
        case .all: return [""]
        case .allButTags: return ["section <> 1"]
        case .some(let names, let withAppObjects):
            let own = names.filter { ScanStatements.own.contains($0) }.map { "type = '\($0)'" }
            guard !withAppObjects else { return own + [ofApps] }
            let apps = names.filter { !ScanStatements.own.contains($0) }
            guard self.types.count > ScanStatements.partLimit, !apps.isEmpty else {
                return own
                    + apps.compactMap { name in
                        self.types.firstIndex(of: name).map { "type = $\(ScanStatements.firstType + $0)" }
                    }
            }
            return own + ["\(ofApps) AND type = ANY ($\(ScanStatements.firstType))"]
        }
    }
}

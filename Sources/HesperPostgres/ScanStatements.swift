import HesperStore

/// The statements of feeds: one per scan. Each part of a statement reads one index in one direction with a limit. Without
/// this structure, the planner, which cannot know the number of rows, would read and sort all of them. Types that Hesper
/// defines are part of the text; other types are arguments.
struct ScanStatements {
    let reach: ScanFilter
    /// Types of app objects that the scan names, in the order of their arguments.
    private let types: [String]

    /// Up to this many app types get a part each; more are filtered from all app objects.
    private static let partLimit = 4
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

    /// The arguments after the first four.
    var arguments: [PostgresValue] {
        guard !types.isEmpty else { return [] }
        return types.count > ScanStatements.partLimit ? [.textArray(types)] : types.map { .text($0) }
    }

    /// Scope, first and last sequence, limit; the types. Nil if the scan reaches nothing. Columns: sequence, id, section, body;
    /// for DeletedObjects section is null, and type, target and date are set. Bodies after ``resultBytes`` are null, except the
    /// first.
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
        // Cast to integer because a sum of bigint is a numeric, which is slower. Bodies are smaller than 2 GiB.
        return """
            SELECT sequence, id, section,
                CASE WHEN sum(bytes::integer) OVER (\(order) ROWS UNBOUNDED PRECEDING) - bytes < \(ScanStatements.resultBytes)
                THEN body END, type, merged_into, deletion_date
            FROM \(rows) AS rows \(order)
            """
    }

    /// Bytes of bodies in one result after which bodies are omitted, as all rows are in memory. Computing the sum costs a first
    /// sync about a sixth of its time.
    private static let resultBytes = 8 << 20

    /// The number of rows and their total bytes, from indexes alone. The fourth argument is ignored.
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

import HesperStore

/// The statements of feeds: one for all that a scan reaches. Each part walks one index, one way, no further than it may be
/// wanted: left to itself the planner, who does not know how much there is, would read and sort it all. Which types are
/// asked for is in the text where Hesper knows them, else an argument.
struct ScanStatements {
    let reach: ScanFilter
    /// Types that apps made up and the scan names, in the order of their arguments.
    private let types: [String]

    /// So many of those have a part each; more are picked from all that apps made up.
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

    /// What follows the first four arguments.
    var arguments: [PostgresValue] {
        guard !types.isEmpty else { return [] }
        return types.count > ScanStatements.partLimit ? [.textArray(types)] : types.map { .text($0) }
    }

    /// Scope, first and last sequence, how many; the types. Nil if it reaches nothing.
    /// Columns: sequence, id, section, body; for DeletedObjects no section, but type, target and date. Bodies past
    /// ``answerBytes``, but for the first, are null.
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
        // Of integers, as a sum of bigint is a numeric, which takes longer. No body has 2 GiB.
        return """
            SELECT sequence, id, section,
                CASE WHEN sum(bytes::integer) OVER (\(order) ROWS UNBOUNDED PRECEDING) - bytes < \(ScanStatements.answerBytes)
                THEN body END, type, merged_into, deletion_date
            FROM \(rows) AS rows \(order)
            """
    }

    /// Bytes of bodies in one answer, but for the last body: all of it is in memory. The sum costs a first sync about a sixth of its
    /// time.
    private static let answerBytes = 8 << 20

    /// How many rows there are in all, and their bytes: from indexes alone. The fourth argument is not looked at.
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

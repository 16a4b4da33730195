import HesperModel
import HesperStore

/// Which types of live objects and of DeletedObjects a scan reaches.
struct ScanReach {
    enum Types: Equatable {
        case all
        case allButTags
        case some([String])
    }

    let objects: Types
    let deleted: Types

    init(_ scan: Scan, in scope: ScopeID, of snapshot: SQLiteSnapshot) throws {
        let selection = scan.selection
        /// The names, with those that apps made up in the place of what stands for them.
        func named(_ names: Set<String>, _ sql: String) throws -> [String] {
            guard names.contains(Selection.appObjects) else { return names.sorted() }
            return try names.subtracting([Selection.appObjects]).union(snapshot.appTypes(in: scope, sql)).sorted()
        }
        switch (scan.rows, selection.types) {
        case _ where !selection.hasObjects: objects = .some([])
        case (.tagsOnly, let types): objects = .some(types?.contains("tag") ?? true ? ["tag"] : [])
        case (.withoutTags, nil): objects = .allButTags
        case (.all, nil): objects = .all
        case (.withoutTags, let types?):
            objects = .some(try named(types.subtracting(["tag"]), ScanStatements.nextObjectType))
        case (.all, let types?): objects = .some(try named(types, ScanStatements.nextObjectType))
        }
        switch (scan.rows, selection.deletedTypes) {
        case (.tagsOnly, _): deleted = .some([])
        case (_, nil): deleted = .all
        case (_, let types?): deleted = .some(try named(types, ScanStatements.nextDeletedType))
        }
    }
}

extension SQLiteSnapshot {
    /// The types that apps made up, found by leaping from one to the next in an index.
    fileprivate func appTypes(in scope: ScopeID, _ sql: String) throws -> [String] {
        let row = try prepare(sql)
        row.bind(1, scope)
        var types: [String] = []
        var last = ""
        while true {
            row.bind(2, last)
            guard let next = try row.first({ row.string(0) }) else { return types }
            if ObjectType(next)?.isAppsOwn ?? false { types.append(next) }
            last = next
        }
    }
}

/// The statements of feeds. Each walks one index, one way; several are merged by hand, as each is in order already.
enum ScanStatements {
    static let nextObjectType = "SELECT type FROM objects WHERE scope = ?1 AND type > ?2 ORDER BY type LIMIT 1"
    static let nextDeletedType = "SELECT type FROM tombstones WHERE scope = ?1 AND type > ?2 ORDER BY type LIMIT 1"

    /// Scope, first and last sequence; the type, if there is one.
    static func objects(_ types: ScanReach.Types, newestFirst: Bool) -> String {
        let order = newestFirst ? "DESC" : "ASC"
        return switch types {
        case .all:
            "SELECT sequence, section, id, body FROM objects WHERE scope = ?1 AND sequence BETWEEN ?2 AND ?3 ORDER BY sequence \(order)"
        case .allButTags:
            "SELECT sequence, section, id, body FROM objects WHERE scope = ?1 AND sequence BETWEEN ?2 AND ?3 AND section <> 1 ORDER BY sequence \(order)"
        case .some:
            "SELECT sequence, section, id, body FROM objects WHERE scope = ?1 AND type = ?4 AND sequence BETWEEN ?2 AND ?3 ORDER BY sequence \(order)"
        }
    }

    /// The same.
    static func deleted(_ types: ScanReach.Types, newestFirst: Bool) -> String {
        let order = newestFirst ? "DESC" : "ASC"
        let type = if case .some = types { "AND type = ?4" } else { "" }
        return """
            SELECT sequence, id, type, merged_into, deletion_date FROM tombstones
            WHERE scope = ?1 \(type) AND sequence BETWEEN ?2 AND ?3 ORDER BY sequence \(order)
            """
    }

    /// How many rows there are, and their bytes: from an index alone.
    static func amount(of table: String, isOfType: Bool) -> String {
        """
        SELECT count(*), coalesce(sum(bytes), 0) FROM \(table)
        WHERE scope = ?1 \(isOfType ? "AND type = ?4" : "") AND sequence BETWEEN ?2 AND ?3
        """
    }
}

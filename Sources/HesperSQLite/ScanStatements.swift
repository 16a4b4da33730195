import HesperModel
import HesperStore

extension SQLiteSnapshot {
    /// Replaces `withAppObjects`, which stands for all app-defined types, with the names of the app-defined types that the scope
    /// contains. Returns any other value unchanged.
    /// - Parameter sql: the statement that finds the next type, ``ScanStatements/nextObjectType`` or
    ///   ``ScanStatements/nextDeletedType``.
    func named(_ types: ScanFilter.Types, in scope: ScopeID, _ sql: String) throws -> ScanFilter.Types {
        guard case .some(let names, withAppObjects: true) = types else { return types }
        return .some((names + (try appTypes(in: scope, sql))).sorted(), withAppObjects: false)
    }

    /// Returns the types of app objects in the scope. Each query finds the next type in an index.
    private func appTypes(in scope: ScopeID, _ sql: String) throws -> [String] {
        let row = try prepare(sql)
        var types: [String] = []
        var last = ""
        while true {
            row.bind(scope, last)
            guard let next = try row.first({ row.string(0) }) else { return types }
            if ObjectType(next)?.isAppDefined ?? false { types.append(next) }
            last = next
        }
    }
}

/// The statements that read feeds. Each reads one index in order. The caller merges the results of several statements.
enum ScanStatements {
    static let nextObjectType = "SELECT type FROM objects WHERE scope = ?1 AND type > ?2 ORDER BY type LIMIT 1"
    static let nextDeletedType = "SELECT type FROM tombstones WHERE scope = ?1 AND type > ?2 ORDER BY type LIMIT 1"

    /// The statement that reads objects. Parameters: scope, first sequence, last sequence, and the type if `types` is `some`.
    static func objects(_ types: ScanFilter.Types, newestFirst: Bool) -> String {
        let order = newestFirst ? "DESC" : "ASC"
        return switch types {
        case .all, .none:
            "SELECT sequence, section, id, body FROM objects WHERE scope = ?1 AND sequence BETWEEN ?2 AND ?3 ORDER BY sequence \(order)"
        case .allButTags:
            "SELECT sequence, section, id, body FROM objects WHERE scope = ?1 AND sequence BETWEEN ?2 AND ?3 AND section <> 1 ORDER BY sequence \(order)"
        case .some:
            "SELECT sequence, section, id, body FROM objects WHERE scope = ?1 AND type = ?4 AND sequence BETWEEN ?2 AND ?3 ORDER BY sequence \(order)"
        }
    }

    /// The statement that reads DeletedObjects. Its parameters are the same as those of ``objects(_:newestFirst:)``.
    static func deleted(_ types: ScanFilter.Types, newestFirst: Bool) -> String {
        let order = newestFirst ? "DESC" : "ASC"
        let type = if case .some = types { "AND type = ?4" } else { "" }
        return """
            SELECT sequence, id, type, merged_into, deletion_date FROM tombstones
            WHERE scope = ?1 \(type) AND sequence BETWEEN ?2 AND ?3 ORDER BY sequence \(order)
            """
    }

    /// The statement that reads the number of rows and the total size of their bodies in bytes. It reads only an index.
    /// Parameters: scope, first sequence, last sequence, and the type if `isOfType` is true.
    static func amount(of table: String, isOfType: Bool) -> String {
        """
        SELECT count(*), coalesce(sum(bytes), 0) FROM \(table)
        WHERE scope = ?1 \(isOfType ? "AND type = ?4" : "") AND sequence BETWEEN ?2 AND ?3
        """
    }
}

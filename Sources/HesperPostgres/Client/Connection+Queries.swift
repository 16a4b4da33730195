extension Connection {
    /// Runs a query and passes each row to `body` until it returns false. All rows are in memory, and `body` may run other
    /// statements on the connection. For results that may be large, use ``cursor(_:_:)``.
    func query(_ sql: String, _ arguments: [PostgresValue] = [], _ body: (Row) throws -> Bool) throws {
        let result = try result(sql, arguments)
        for index in 0..<result.rowCount {
            guard try result.row(index, body) else { return }
        }
    }

    /// Runs a query, calls `body` for the first row and returns its result; nil if there is no row.
    func first<T>(_ sql: String, _ arguments: [PostgresValue] = [], _ body: (Row) throws -> T?) throws -> T? {
        let result = try result(sql, arguments)
        return result.rowCount > 0 ? try result.row(0, body) : nil
    }

    /// Runs a query, calls `body` for each row and returns the results in order.
    func all<T>(_ sql: String, _ arguments: [PostgresValue] = [], _ body: (Row) throws -> T) throws -> [T] {
        let result = try result(sql, arguments)
        return try (0..<result.rowCount).map { try result.row($0, body) }
    }

    /// Runs a statement after all enqueued statements.
    /// - Returns: the number of rows that it changed.
    @discardableResult
    func run(_ sql: String, _ arguments: [PostgresValue] = []) throws -> Int { try result(sql, arguments).changed }
}

extension Connection {
    /// Waits for all rows, which are in memory then, and gives each to `body` until it answers false. `body` may ask the
    /// connection for more. What may be large is read with a ``cursor(_:_:)``.
    func query(_ sql: String, _ arguments: [PostgresValue] = [], _ body: (Row) throws -> Bool) throws {
        let answer = try answer(sql, arguments)
        for index in 0..<answer.rowCount {
            guard try answer.row(index, body) else { return }
        }
    }

    /// What `body` makes of the first row.
    func first<T>(_ sql: String, _ arguments: [PostgresValue] = [], _ body: (Row) throws -> T?) throws -> T? {
        let answer = try answer(sql, arguments)
        return answer.rowCount > 0 ? try answer.row(0, body) : nil
    }

    func all<T>(_ sql: String, _ arguments: [PostgresValue] = [], _ body: (Row) throws -> T) throws -> [T] {
        let answer = try answer(sql, arguments)
        return try (0..<answer.rowCount).map { try answer.row($0, body) }
    }

    /// Does a statement, and all that was enqueued before it.
    /// - Returns: how many rows it changed.
    @discardableResult
    func run(_ sql: String, _ arguments: [PostgresValue] = []) throws -> Int { try answer(sql, arguments).changed }
}

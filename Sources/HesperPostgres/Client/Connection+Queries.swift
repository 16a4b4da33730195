import CPostgres

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

    func answer(_ sql: String, _ arguments: [PostgresValue], isNamed: Bool = true) throws -> Answer {
        // What was enqueued in vain comes first.
        if failure == nil { try send(sql, arguments, isNamed: isNamed, isAwaited: true) }
        guard let answer = try settle().last else { throw broke(.lost("out of step")) }
        return answer
    }

    /// The answers of several statements, asked for at once.
    func answers(_ statements: [(sql: String, arguments: [PostgresValue])]) throws -> [Answer] {
        if failure == nil {
            for statement in statements { try send(statement.sql, statement.arguments, isAwaited: true) }
        }
        let answers = try settle()
        guard answers.count == statements.count else { throw broke(.lost("out of step")) }
        return answers
    }

    /// Does several statements that have no arguments, with what was enqueued before them.
    func execute(script: String) throws {
        try outsidePipeline {
            log?(script)
            guard PQsendQuery(handle, script) == 1 else { throw lost() }
            roundTrips += 1
            try finish(script)
        }
    }

    /// Does what libpq can not do in a pipeline.
    func outsidePipeline<T>(_ body: () throws -> T) throws -> T {
        try flush()
        if PQpipelineStatus(handle) != PQ_PIPELINE_OFF, PQexitPipelineMode(handle) != 1 { throw lost() }
        defer {
            if brokenBy == nil, PQenterPipelineMode(handle) != 1 { _ = lost() }
        }
        return try body()
    }

    /// Reads the answers of what was sent outside the pipeline to their end.
    @discardableResult
    func finish(_ sql: String) throws -> Int {
        var patience = Patience(patience)
        var failure: PostgresError?
        var changed = 0
        while let result = try nextResult(&patience) {
            let answer = Answer(result)
            if ![PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY].contains(PQresultStatus(result)) {
                failure = failure ?? PostgresError(result, statement: sql)
            }
            changed = answer.changed
        }
        if let failure { throw failure.isConnection ? broke(failure) : failure }
        if patience.isOver { throw PostgresError.late("took longer than \(self.patience)") }
        return changed
    }
}

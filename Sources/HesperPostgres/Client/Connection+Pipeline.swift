import CPostgres

extension Connection {
    /// Bytes in the pipeline from which on the next statement waits until they are on their way.
    private static let pipelineLimit = 1 << 20

    /// Sends a statement without waiting for its answer. What goes wrong is thrown by the next call that waits.
    /// - Parameter rows: how many it must change; another number is an error.
    func enqueue(_ sql: String, _ arguments: [PostgresValue] = [], expecting rows: Int? = nil) {
        // What follows something that failed would be passed over by the server too.
        guard failure == nil else { return }
        do {
            try send(sql, arguments, expecting: rows, isAwaited: false)
        } catch {
            failure = error
        }
    }

    /// Waits for all that was sent.
    func flush() throws { _ = try settle() }

    /// - Parameter isNamed: whether it is prepared; what has a name in its text would be so for nothing.
    func send(
        _ sql: String, _ arguments: [PostgresValue], isNamed: Bool = true, expecting rows: Int? = nil,
        isAwaited: Bool
    ) throws {
        if let brokenBy { throw brokenBy }
        log?(sql)
        try parameters.set(arguments)
        let name = isNamed ? try prepare(sql) : ""
        let types = parameters.given
        let isSent = parameters.withPointers { arguments in
            if isNamed {
                PQsendQueryPrepared(
                    handle, name, arguments.count, arguments.values, arguments.lengths, arguments.formats, 1)
            } else {
                PQsendQueryParams(
                    handle, sql, arguments.count, types, arguments.values, arguments.lengths, arguments.formats, 1)
            }
        }
        guard isSent == 1 else { throw lost() }
        pending.append(.statement(sql, rows: rows, isAwaited: isAwaited))
        enqueuedBytes += parameters.byteCount
        if enqueuedBytes > Connection.pipelineLimit { try push() }
    }

    /// The name of the statement on the server, which is told of it first if need be.
    private func prepare(_ sql: String) throws -> String {
        let types = parameters.given
        if let known = prepared[sql] {
            for (given, declared) in zip(types, known.types) where given != 0 && declared != 0 && given != declared {
                throw PostgresError.misuse("an argument of type \(given) where the first was of \(declared) in: \(sql)")
            }
            return known.name
        }
        // Never the same name again: whether one that failed is there is not always known.
        preparedCount += 1
        let statement = Prepared(name: "s\(preparedCount)", types: types)
        guard PQsendPrepare(handle, statement.name, sql, Int32(types.count), types) == 1 else { throw lost() }
        pending.append(.preparation(of: sql))
        prepared[sql] = statement
        return statement.name
    }

    /// Waits until all that was enqueued has left, and reads what has come, so that neither side has to keep much.
    private func push() throws {
        var patience = Patience(patience)
        while PQflush(handle) == 1 {
            try wait(forSending: true, &patience)
            guard PQconsumeInput(handle) == 1 else { throw lost() }
        }
        enqueuedBytes = 0
    }

    /// Waits for all that was sent, and gives the answers that were awaited.
    /// - Throws: the first error of them all: what came after it in the pipeline was not done.
    func settle() throws -> [Answer] {
        defer {
            failure = nil
            awaited = []
        }
        if brokenBy == nil, !pending.isEmpty {
            do {
                try settlePipeline()
            } catch {
                throw brokenBy ?? error
            }
        }
        if let error = brokenBy ?? failure { throw error }
        return awaited
    }

    private func settlePipeline() throws {
        guard PQpipelineSync(handle) == 1 else { throw lost() }
        pending.append(.sync)
        roundTrips += 1
        enqueuedBytes = 0
        notices.forgetWarnings()
        let expected = pending
        pending.removeAll(keepingCapacity: true)
        var patience = Patience(patience)
        for expected in expected { try receive(expected, &patience) }
        if patience.isOver { note(PostgresError.late("took longer than \(self.patience)")) }
    }

    private func receive(_ expected: Expected, _ patience: inout Patience) throws {
        if case .sync = expected {
            guard let result = try nextResult(&patience) else { throw broke(.lost("out of step")) }
            defer { PQclear(result) }
            guard PQresultStatus(result) == PGRES_PIPELINE_SYNC else { throw broke(.lost("out of step")) }
            return
        }
        while let result = try nextResult(&patience) { take(result, of: expected) }
    }

    private func take(_ result: OpaquePointer, of expected: Expected) {
        let answer = Answer(result)
        let status = PQresultStatus(result)
        let isFine = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK
        switch expected {
        case .preparation(let sql):
            guard !isFine else { return }
            prepared[sql] = nil
            if status != PGRES_PIPELINE_ABORTED { note(PostgresError(result, statement: sql)) }
        case .statement(let sql, let rows, let isAwaited):
            guard isFine else {
                if status != PGRES_PIPELINE_ABORTED { note(PostgresError(result, statement: sql)) }
                return
            }
            if let rows, answer.changed != rows {
                note(PostgresError.misuse("\(answer.changed) rows instead of \(rows) in: \(sql)"))
            }
            if let error = commitFailure(answer, of: sql) { note(error) }
            if isAwaited { awaited.append(answer) }
        case .sync: break
        }
    }

    /// A commit that says that all is well and was none.
    private func commitFailure(_ answer: Answer, of sql: String) -> PostgresError? {
        guard sql == "COMMIT" else { return nil }
        if PQcmdStatus(answer.handle).map({ String(cString: $0) }) != "COMMIT" {
            return PostgresError(sqlState: "25P02", message: "the transaction had failed before its commit")
        }
        guard notices.saysThatStandbysMayLackIt else { return nil }
        return broke(.lost("the commit may not have reached its standbys"))
    }

    /// Keeps the first error, as it is the cause of those that follow.
    private func note(_ error: PostgresError) {
        if error.isConnection { broke(error) }
        if failure == nil { failure = error }
    }
}

import CPostgres

/// The prepared statements of a session, including those whose preparation is still in the pipeline.
struct PreparedStatements {
    private var statements: [String: Statement] = [:]
    private var count = 0

    private struct Statement {
        let name: String
        let types: [Oid]
    }

    /// The name of the prepared statement with this SQL text; nil if there is none.
    /// - Parameter types: the types of the arguments, 0 for null.
    /// - Throws: ``PostgresError/misuse(_:)`` if the statement was prepared with arguments of other types.
    func name(of sql: String, _ types: [Oid]) throws -> String? {
        guard let known = statements[sql] else { return nil }
        for (given, declared) in zip(types, known.types) where given != 0 && declared != 0 && given != declared {
            throw PostgresError.misuse("argument type \(given) differs from the prepared type \(declared) in: \(sql)")
        }
        return known.name
    }

    /// Adds a statement to those that the session has prepared.
    /// - Returns: its name. A name is never used twice, because after a failure it is unknown whether the server has prepared a
    ///   statement with this name.
    mutating func add(_ sql: String, _ types: [Oid]) -> String {
        count += 1
        let statement = Statement(name: "s\(count)", types: types)
        statements[sql] = statement
        return statement.name
    }

    mutating func remove(_ sql: String) { statements[sql] = nil }
}

import CPostgres

/// The statements that the server knows, or will when it has read what is on its way.
struct PreparedStatements {
    private var statements: [String: Statement] = [:]
    private var count = 0

    private struct Statement {
        let name: String
        let types: [Oid]
    }

    /// The name of a statement that is prepared; nil if it is not.
    /// - Parameter types: those of its arguments, 0 for null.
    /// - Throws: ``PostgresError/misuse(_:)``, if it was prepared for others.
    func name(of sql: String, _ types: [Oid]) throws -> String? {
        guard let known = statements[sql] else { return nil }
        for (given, declared) in zip(types, known.types) where given != 0 && declared != 0 && given != declared {
            throw PostgresError.misuse("an argument of type \(given) where the first was of \(declared) in: \(sql)")
        }
        return known.name
    }

    /// Adds one.
    /// - Returns: its name. Never the same again: whether one that failed is there is not always known.
    mutating func add(_ sql: String, _ types: [Oid]) -> String {
        count += 1
        let statement = Statement(name: "s\(count)", types: types)
        statements[sql] = statement
        return statement.name
    }

    mutating func remove(_ sql: String) { statements[sql] = nil }
}

import CPostgres
import Foundation

extension PostgresStore {
    /// Checks the syntax of a connection string without connecting.
    /// - Returns: libpq's error in one line without a full stop, or nil if the string is well formed. The error quotes nothing
    ///   from the string, which may contain a password.
    public static func syntaxError(in connectionString: String) -> String? {
        var error: UnsafeMutablePointer<CChar>?
        if let options = PQconninfoParse(connectionString, &error) {
            PQconninfoFree(options)
            return nil
        }
        defer { PQfreemem(error) }
        let line = error.map(PostgresError.line) ?? "out of memory"
        // libpq quotes the connection string only at the end of the message, so everything from the first quotation mark on is
        // removed.
        let quote = line.firstIndex(of: "\"") ?? line.endIndex
        let message = line[..<quote].drop { $0.isWhitespace }
        return message.reversed().drop { " :".contains($0) }.reversed().map(String.init).joined()
    }
}

extension PostgresSettings {
    /// Whether neither the connection string nor the environment sets `target_session_attrs`.
    var lacksSessionAttributes: Bool {
        guard getenv("PGTARGETSESSIONATTRS") == nil, let options = PQconninfoParse(connectionString, nil) else {
            return false
        }
        defer { PQconninfoFree(options) }
        var option = options
        while let keyword = option.pointee.keyword {
            if String(cString: keyword) == "target_session_attrs" { return option.pointee.val == nil }
            option += 1
        }
        return true
    }
}

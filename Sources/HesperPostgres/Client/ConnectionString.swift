import CPostgres
import Foundation

extension PostgresStore {
    /// What libpq finds wrong with a connection string, without connecting: one line without a full stop, in which nothing
    /// of the string stands, as that may be a password; nil if it is well formed.
    public static func complaint(about connectionString: String) -> String? {
        var message: UnsafeMutablePointer<CChar>?
        if let options = PQconninfoParse(connectionString, &message) {
            PQconninfoFree(options)
            return nil
        }
        defer { PQfreemem(message) }
        let line = message.map(PostgresError.line) ?? "out of memory"
        // What it quotes comes after what it says.
        let quote = line.firstIndex(of: "\"") ?? line.endIndex
        let said = line[..<quote].drop { $0.isWhitespace }
        return said.reversed().drop { " :".contains($0) }.reversed().map(String.init).joined()
    }
}

extension PostgresSettings {
    /// Whether neither the string nor the environment says what kind of server is meant.
    var leavesServerOpen: Bool {
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

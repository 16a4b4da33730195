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
    /// Whether several hosts are named, and neither the string nor the environment says which of them is meant.
    var leavesHostOpen: Bool {
        guard getenv("PGTARGETSESSIONATTRS") == nil, let options = PQconninfoParse(connectionString, nil) else {
            return false
        }
        defer { PQconninfoFree(options) }
        var values: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            values[String(cString: keyword)] = option.pointee.val.map { String(cString: $0) }
            option += 1
        }
        let hosts = [values["host"], values["hostaddr"]].compactMap { $0 }
        return values["target_session_attrs"] == nil && hosts.contains { $0.contains(",") }
    }
}

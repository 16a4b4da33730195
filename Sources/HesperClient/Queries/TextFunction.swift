internal import Foundation
package import GRDB

/// The SQL function that `contains` calls. It returns whether a text contains another text, ignoring case and accents.
package enum TextFunction {
    static let name = "hesper_contains"

    /// Adds the function to a connection. Every connection that runs predicates needs it.
    package static func install(in database: Database) {
        database.add(
            function: DatabaseFunction(name, argumentCount: 2, pure: true) { values in
                guard let text = String.fromDatabaseValue(values[0]), let part = String.fromDatabaseValue(values[1])
                else { return nil }
                return contains(text, part)
            })
    }

    static func contains(_ text: String, _ part: String) -> Bool {
        part.isEmpty || folded(text).utf8.contains(folded(part).utf8)
    }

    private static func folded(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.lowercased() }
        return text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
    }
}

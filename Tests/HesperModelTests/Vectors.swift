import Foundation
import Testing

/// Loads files of Tests/Vectors, which any implementation can run (see its README).
enum Vectors {
    static func load<Value: Decodable>(_ name: String, as type: Value.Type = Value.self) throws -> Value {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return try JSONDecoder().decode(type, from: Data(contentsOf: folder.appending(path: "Vectors/\(name)")))
    }
}

extension String {
    /// The scalars in hex, for messages and for comparisons that are stricter than `==`.
    var hex: String { unicodeScalars.map { String($0.value, radix: 16) }.joined(separator: " ") }
}

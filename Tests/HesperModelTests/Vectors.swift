import Foundation
import Testing

/// The files of Tests/Vectors, which any implementation can run (its README says how).
enum Vectors {
    static func load<Value: Decodable>(_ name: String, as type: Value.Type = Value.self) throws -> Value {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return try JSONDecoder().decode(type, from: Data(contentsOf: folder.appending(path: "Vectors/\(name)")))
    }
}

extension String {
    /// For messages and for comparing what `==` takes for equal: the scalars in hex.
    var hex: String { unicodeScalars.map { String($0.value, radix: 16) }.joined(separator: " ") }
}

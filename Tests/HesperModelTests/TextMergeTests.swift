import Foundation
import Testing

@testable import HesperModel

/// A case of `Tests/Vectors/text-merges.json`.
struct TextMergeVector: Decodable, CustomTestStringConvertible, Sendable {
    let name: String
    let base: String
    let older: String
    let newer: String
    let merged: String

    var testDescription: String { name }

    static func all() throws -> [TextMergeVector] {
        let file = Folders.package.appending(path: "Tests/Vectors/text-merges.json")
        return try JSONDecoder().decode([TextMergeVector].self, from: Data(contentsOf: file))
    }
}

/// Paths, computed from this file.
enum Folders {
    static let package = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
}

/// Whether two strings have the same bytes. `==` would not distinguish different spellings of "é".
func isSame(_ one: String, _ other: String) -> Bool { one.utf8.elementsEqual(other.utf8) }

@Suite("Merging texts (merge.md, Text)")
struct TextMergeTests {
    @Test("The texts merge as expected", arguments: try TextMergeVector.all())
    func vector(_ vector: TextMergeVector) {
        let merged = TextMerge.merge(base: vector.base, older: vector.older, newer: vector.newer)
        #expect(isSame(merged, vector.merged), "got \(merged.debugDescription), not \(vector.merged.debugDescription)")
    }

    @Test("Case names are unique")
    func names() throws {
        let vectors = try TextMergeVector.all()
        #expect(vectors.count >= 100)
        #expect(Set(vectors.map(\.name)).count == vectors.count)
    }

    @Test(
        "If one side is unchanged, the result is the other; if both are equal, the result is the same",
        arguments: try TextMergeVector.all())
    func unchanged(_ vector: TextMergeVector) {
        for side in [vector.older, vector.newer] {
            for (older, newer) in [(vector.base, side), (side, vector.base), (side, side)] {
                #expect(isSame(TextMerge.merge(base: vector.base, older: older, newer: newer), side))
            }
        }
    }
}

import Foundation
import Testing

@testable import HesperModel

/// merge.md, Tags: a tag's name is unique within a scope under `fold(name)`.
struct TagNameTests {
    struct Case: Decodable, CustomTestStringConvertible {
        let name: String
        let input: String
        let folded: String
        var testDescription: String { name }
    }

    @Test(arguments: try Vectors.load("tag-names.json", as: [Case].self))
    func `A name folds to the expected scalars`(vector: Case) {
        #expect(TagName.fold(vector.input).hex == vector.folded.hex)
        #expect(TagName.fold(vector.folded).hex == vector.folded.hex, "folding must be idempotent")
    }

    @Test func `Every code point folds as specified by Unicode`() throws {
        let foldings = try Vectors.load("case-folding.json", as: [String: String].self)
        #expect(foldings.count == 1530)
        var expected: [UInt32: [UInt32]] = [:]
        for (point, folded) in foldings {
            let scalars = folded.split(separator: " ").map { UInt32($0, radix: 16) }
            expected[try #require(UInt32(point, radix: 16))] = try scalars.map { try #require($0) }
        }
        for scalar in (UInt32(0)...0x10FFFF).compactMap(Unicode.Scalar.init) {
            var folded: [UInt32] = []
            CaseFolding.fold(scalar) { folded.append($0.value) }
            if folded != expected[scalar.value] ?? [scalar.value] {
                Issue.record("U+\(String(scalar).hex) folds to \(folded.map { String($0, radix: 16) })")
            }
        }
    }

    @Test func `Equivalent names fold to the same scalars, and folding is idempotent`() {
        var random = SeededGenerator(for: "TagName laws")
        for _ in 0..<(isEverything ? 20_000 : 5_000) {
            let name = randomName(&random)
            let folded = TagName.fold(name)
            #expect(TagName.fold(folded).hex == folded.hex, "\(name.hex)")
            #expect(TagName.fold(name.decomposedStringWithCanonicalMapping).hex == folded.hex, "\(name.hex)")
            #expect(TagName.fold("\u{3000} " + name + "\t").hex == folded.hex, "\(name.hex)")
        }
    }

    @Test func `Folded names are equal exactly when their bytes are`() {
        #expect(TagName.fold("e\u{301}").utf8.elementsEqual(TagName.fold("É").utf8))
        #expect(!"e\u{301}".utf8.elementsEqual("é".utf8) && "e\u{301}" == "é", "Swift's == ignores this difference")
    }

    /// Letters with foldings, letters that decompose, and marks that combine with them, more frequent than in uniform random
    /// text.
    private func randomName(_ random: inout SeededGenerator) -> String {
        let blocks: [ClosedRange<UInt32>] = [
            0x20...0x7E, 0xA0...0x24F, 0x300...0x36F, 0x345...0x345, 0x370...0x52F, 0x1E00...0x1FFF, 0x2000...0x214F,
            0x590...0x6FF, 0x900...0xDFF, 0x3040...0x30FF, 0xAC00...0xD7A3, 0xFB00...0xFB4F, 0x10400...0x1044F,
        ]
        var name = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...8, using: &random) {
            let block = blocks[Int.random(in: 0..<blocks.count, using: &random)]
            if let scalar = Unicode.Scalar(UInt32.random(in: block, using: &random)) { name.append(scalar) }
        }
        return String(name)
    }
}

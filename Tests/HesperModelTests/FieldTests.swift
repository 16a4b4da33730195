import Foundation
import Testing

@testable import HesperModel

/// Checks the places that must know each field besides the code that uses the table (development.md, Add a field to notes).
/// HesperServerTests checks the schemas of the contract.
@Suite struct FieldTests {
    private static func text(_ path: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    @Test(arguments: Field.allCases) func isListedInMergePage(_ field: Field) throws {
        let page = try FieldTests.text("docs/merge.md")
        let table = try #require(page.range(of: "| object | attributes | |\n"))
        let end = try #require(page[table.upperBound...].range(of: "\n\n"))
        #expect(page[table.upperBound..<end.lowerBound].contains("`\(field.rawValue)`"), "docs/merge.md, Edits")
        guard field.defaultValue != nil else { return }
        // The line breaks of the page do not matter.
        let prose = page.replacing(#/\s+/#, with: " ")
        let defaults = try #require(prose.range(of: "A register that was never set has its default: "))
        let stop = try #require(prose[defaults.upperBound...].range(of: ". It has no clock"))
        #expect(
            prose[defaults.upperBound..<stop.lowerBound].contains("`\(field.rawValue)` is"),
            "docs/merge.md, Edits, must name the default")
    }

    private struct Bag: Decodable {
        struct Edit: Decodable { let attribute: String }
        let edits: [Edit]
    }

    @Test(arguments: Field.allCases) func isUsedInVectors(_ field: Field) throws {
        let bags: [Bag] = try Vectors.load("folds.json")
        #expect(
            bags.contains { $0.edits.contains { $0.attribute == field.rawValue } },
            "Tests/Vectors/folds.json has no edit of it")
    }

    @Test(arguments: Field.allCases) func isNamedInHistories(_ field: Field) throws {
        #expect(Attribute(field.rawValue) == .field(field))
    }

    /// The other implementations of the fold define defaults by name.
    @Test(
        arguments: Field.allCases.filter { $0.defaultValue != nil },
        ["Public/js/model/entity.js", "Tests/Vectors/reference.py"])
    func defaultIsDefinedElsewhere(_ field: Field, _ path: String) throws {
        let pattern = try Regex("\\b\(field.rawValue)\"?: ")
        #expect(try FieldTests.text(path).contains(pattern))
    }

    @Test(arguments: Field.allCases) func foldsOnlyValuesOfItsRow(_ field: Field) throws {
        let value: Value =
            switch field.kind {
            case .null: .null
            case .bool: .bool(true)
            case .integer: .integer(1)
            case .number: .number(0.5)
            case .string: .string("x")
            case .date: .date(Timestamp(clamping: 0))
            }
        let clock = try #require(Clock(milliseconds: 1, node: NodeID(1)))
        let (right, wrong): (Clock?, Clock?) = field.rule == .register ? (clock, nil) : (nil, clock)
        func folds(_ value: Value, at clock: Clock?, into entity: inout Entity) -> Bool {
            entity.fold(Edit(.field(field), value, at: clock))
        }
        var entity = field.section.empty(.random())
        var isChanged = folds(value, at: wrong, into: &entity)
        #expect(!isChanged)
        isChanged = folds(.number(0.5), at: right, into: &entity)
        #expect(!isChanged, "a value of another type")
        isChanged = folds(value, at: right, into: &entity)
        #expect(isChanged)
        isChanged = folds(value, at: right, into: &entity)
        #expect(!isChanged, "the edit is already known")
        #expect(entity.content[field] == value)
        #expect(entity.register(.field(field))?.clock == right)
        for section in Section.allCases where section != field.section {
            var stranger = section.empty(.random())
            isChanged = folds(value, at: right, into: &stranger)
            #expect(!isChanged, "a field of another type of object")
        }
    }

    private static let clock = "2026-11-21T08:47:12.345Z-0003-9f86d081884c7d65"
    private static let id = "5f0c5a1e-6d0b-4c8e-9d3a-2b7f4e1c8a90"
    private static let other = "77c1f2e0-4d3b-4a8e-9b1a-0c5d6e7f8091"

    /// The stored body of one object of each type, byte by byte.
    private static let storedBodies: [(Section, String)] = [
        (
            .notes,
            """
            {"uniqueID":"\(id)","creationDate":"2026-11-21T08:40:00.000Z","text":"","archived":false,\
            "sortDate":"2026-11-21T08:40:00.000Z","tags":[],"attachments":[],"attributes":{},\
            "clocks":{"tags":{},"attachments":{},"attributes":{}}}
            """
        ),
        (
            .notes,
            """
            {"uniqueID":"\(id)","creationDate":"2026-11-21T08:40:00.000Z","text":"Milk","archived":true,\
            "sortDate":"2026-11-21T07:00:00.000Z","tags":["\(other)"],"attachments":[],"attributes":{"pinned":true},\
            "clocks":{"text":"\(clock)","archived":"\(clock)","sortDate":"\(clock)","tags":{"\(other)":"\(clock)"},\
            "attachments":{"\(other)":"\(clock)"},"attributes":{"pinned":"\(clock)"}}}
            """
        ),
        (
            .tags,
            """
            {"uniqueID":"\(id)","name":"Paris","attributes":{},"clocks":{"name":"\(clock)","attributes":{}}}
            """
        ),
        (
            .attachments,
            """
            {"uniqueID":"\(id)","mimeType":"image/png","width":640,"height":480,"filename":"a.png","preview":"AAAA",\
            "byteCount":5,"sha256":"\(String(repeating: "ab", count: 32))"}
            """
        ),
        (
            .objects,
            """
            {"uniqueID":"\(id)","objectType":"board","attributes":{"size":1},"clocks":{"attributes":{"size":"\(clock)"}}}
            """
        ),
    ]

    /// Feeds send bodies as they were stored, and `hesper check` compares them with the folded edits. A change of the body
    /// therefore needs migrations that rewrite all objects.
    @Test(arguments: storedBodies) func storedBodiesAreUnchanged(_ section: Section, _ body: String) throws {
        let id = try #require(UniqueID(FieldTests.id))
        let entity = try Array(body.utf8).withUnsafeBytes { try Entity.read($0, id: id, section: section) }
        #expect(String(decoding: entity.body, as: UTF8.self) == body)
    }
}

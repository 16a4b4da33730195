import Testing

@testable import HesperModel

/// Runs `Tests/Vectors/digests.json` (merge.md, The digest).
@Suite("Vectors: digests")
struct DigestVectorsTests {
    static let vectors = Result { try VectorCase.load("digests.json") }

    @Test("Case names are unique, and each case has either an object or a scope")
    func complete() throws {
        let all = try Self.vectors.get()
        #expect(Set(all.map(\.testDescription)).count == all.count)
        for vector in all { #expect(vector.has("object") != vector.has("objects"), "\(vector.testDescription)") }
    }

    @Test("The digest of an object", arguments: try vectors.get().filter { $0.has("object") })
    func objects(vector: VectorCase) throws {
        let shown = try VectorCase(json: #require(vector.object["object"]))
        let digest =
            shown.has("deletionDate")
            ? try shown.deletedObject().digest : try shown.entity(in: Section(vector.objectType())).digest
        #expect(digest.description == (try vector.string("digest")))
        let lines = try vector.strings("lines").map { $0 + "\n" }.joined()
        #expect(Digest(of: Array(lines.utf8)) == digest, "SHA-256 of the lines")
    }

    @Test("The digest of a scope", arguments: try vectors.get().filter { $0.has("objects") })
    func scopes(vector: VectorCase) throws {
        let page = try VectorCase(json: #require(vector.object["objects"]))
        var digest = Digest.zero
        for section in Section.allCases {
            for shown in try page.cases(section.name) { digest ^= try shown.entity(in: section).digest }
        }
        for shown in try page.cases("deletedObjects") { digest ^= try shown.deletedObject().digest }
        #expect(digest.description == (try vector.string("digest")))
    }
}

extension VectorCase {
    /// Reads an object in the form in which sync sends it, and checks that it is written in the same form.
    func entity(in section: Section) throws -> Entity {
        let id: UniqueID = try value("uniqueID")
        let entity = try JSON.object(object).bytes.withUnsafeBytes { try Entity.read($0, id: id, section: section) }
        #expect(try JSONReader.read(entity.body).sorted == JSON.object(object).sorted)
        return entity
    }
}

import Testing

@testable import HesperModel

/// Runs `Tests/Vectors/pushes.json` (merge.md, One push).
@Suite("Vectors: pushes")
struct PushVectorsTests {
    @Test("Case names are unique")
    func names() throws {
        let all = try VectorCase.load("pushes.json")
        #expect(all.count >= 20 && Set(all.map(\.testDescription)).count == all.count)
    }

    @Test(
        "A push yields the expected receipts, edits and objects",
        arguments: try VectorCase.load("pushes.json"))
    func pushes(vector: VectorCase) throws {
        let (server, now): (NodeID, Timestamp) = (try vector.value("server"), try vector.value("now"))
        var bag = MemoryBag()
        if case .object(let data)? = vector.object["data"] {
            for member in data.members {
                let known = try VectorCase(json: member.value)
                bag.data[try #require(UniqueID(member.name))] = AttachmentData(
                    byteCount: try known.integer("byteCount"), sha256: try known.string("sha256"))
            }
        }
        for changes in try vector.elements("before") {
            let outcome = try bag.apply(PushReader.read(changes), server: server, at: now)
            #expect(outcome.receipts.allSatisfy { $0.status == .applied }, "the preceding pushes must be applied")
        }
        let push = try PushReader.read(#require(vector.object["push"]))
        let outcome = try bag.apply(push, server: server, at: now)

        let results = try outcome.receipts.map { try $0.json.withPlainProblems.sorted }
        #expect(results == (try vector.elements("results").map(\.sorted)))
        let added = outcome.parcels.flatMap { parcel in parcel.edits.map { described($0, of: parcel.object) } }
        let expected = try vector.cases("added").map { try $0.parcel() }.map { described($0.edits[0], of: $0.object) }
        #expect(added.sorted() == expected.sorted())
        #expect(bag.refolded.page.sorted == (try #require(vector.object["objects"]).sorted))
        #expect(bag.digest.description == (try vector.string("digest")))
        bag.check()
    }

    private func described(_ edit: Edit, of id: UniqueID) -> String {
        let value = edit.value?.json.bytes ?? []
        let clock = edit.clock?.description ?? "set once"
        return "\(id) \(edit.attribute.description) \(String(decoding: value, as: UTF8.self)) \(clock)"
    }
}

extension Receipt {
    fileprivate var json: JSON {
        get throws {
            var writer = JSONWriter()
            write(to: &writer)
            return try JSONReader.read(writer.bytes)
        }
    }
}

extension JSON {
    /// Replaces problems by their slug and pointer, because messages may change.
    fileprivate var withPlainProblems: JSON {
        guard case .object(let object) = self else { return self }
        return .object(
            JSONObject(
                object.members.map { member in
                    guard member.name == "problem", case .object(let problem) = member.value else {
                        return (member.name, member.value.withPlainProblems)
                    }
                    return ("problem", .object(JSONObject(["slug", "pointer"].map { ($0, problem[$0] ?? .null) })))
                }))
    }
}

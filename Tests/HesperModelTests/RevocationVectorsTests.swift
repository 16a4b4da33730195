import Testing

@testable import HesperModel

/// Runs `Tests/Vectors/revocations.json` (merge.md, Devices).
@Suite("Vectors: revocations")
struct RevocationVectorsTests {
    @Test("Case names are unique")
    func names() throws {
        let all = try VectorCase.load("revocations.json")
        #expect(all.count >= 30 && Set(all.map(\.testDescription)).count == all.count)
    }

    @Test(
        "The edits of a revoked device are undone as expected, in any order of the parcels",
        arguments: try VectorCase.load("revocations.json"))
    func revocations(vector: VectorCase) throws {
        let history = try History(vector)
        var random = SeededGenerator(for: vector.testDescription)
        for round in 0..<5 {
            var rewind = Rewind(of: try vector.value("device"), after: try vector.value("moment"))
            for stored in round == 0 ? history.parcels : history.parcels.shuffled(using: &random) {
                rewind.add(stored.parcel, by: stored.by, at: stored.at, position: stored.position)
            }
            let found = try history.outcome(of: rewind)
            let expected = ["outcome", "putBack", "older", "keeps"].compactMap { name in
                vector.object[name].map { (name, $0) }
            }
            #expect(
                JSON.object(JSONObject(found)).sorted == JSON.object(JSONObject(expected)).sorted,
                "round \(round), seed \(random.seed)")
        }
    }
}

/// The parcels of one object with their senders and times.
private struct History {
    var parcels: [(parcel: Parcel, by: NodeID, at: Timestamp, position: Int64)] = []
    var entity: Entity

    init(_ vector: VectorCase) throws {
        let (id, type) = (UniqueID.random(), try vector.objectType())
        entity = Section(type).empty(id)
        for (index, json) in try vector.cases("parcels").enumerated() {
            let edits = try json.cases("edits").map { try $0.edit() }
            let isServerMade = json.has("isServers") ? try json.bool("isServers") : false
            for edit in edits { entity.fold(edit) }
            parcels.append(
                (
                    Parcel(object: id, objectType: type, edits: edits, isServerMade: isServerMade),
                    try json.value("pushedBy"), try json.value("pushedAt"), Int64(index + 1)
                ))
        }
    }

    /// The server's changes, in the form of a vector's outcome.
    func outcome(of rewind: Rewind) throws -> [(String, JSON)] {
        guard case .restore(let restorations, let isPartial) = rewind.outcome(for: entity) else {
            return [("outcome", .string("gone"))]
        }
        var (putBack, older): ([(String, JSON)], [JSON]) = ([], [])
        for restoration in restorations {
            var value: Value?
            if let version = restoration.version {
                let edits = parcels[Int(version.position) - 1].parcel.edits
                value = try #require(
                    edits.first { $0.attribute == restoration.attribute && $0.clock == version.clock }?.value)
            }
            guard let edit = restoration.edit(of: entity, value, at: .zero) else { continue }
            putBack.append((edit.attribute.description, edit.value?.json ?? .string("nothing")))
            if restoration.isOlder { older.append(.string(edit.attribute.description)) }
        }
        var outcome: [(String, JSON)] = [("outcome", .string(putBack.isEmpty ? "stands" : "putBack"))]
        if !putBack.isEmpty { outcome.append(("putBack", .object(JSONObject(putBack)))) }
        if !older.isEmpty { outcome.append(("older", .array(older))) }
        if isPartial { outcome.append(("keeps", .bool(true))) }
        return outcome
    }
}

extension VectorCase {
    /// One edit of a parcel. It has no value if thinning dropped it.
    fileprivate func edit() throws -> Edit {
        guard let attribute = Attribute(try string("attribute")) else {
            throw Malformed(field: "attribute", value: object["attribute"])
        }
        guard has("value") else { return Edit(attribute, nil, at: try optional("clock")) }
        if [.creationDate, .sortDate].contains(attribute) {
            return Edit(attribute, .date(try value("value")), at: try optional("clock"))
        }
        return Edit(attribute, object["value"].flatMap { Value(scalar: $0) }, at: try optional("clock"))
    }
}

import Testing

@testable import HesperModel

/// merge.md, Devices, as `Tests/Vectors/revocations.json` has it.
@Suite("Vectors: revocations")
struct RevocationVectorsTests {
    @Test("Every case has a name of its own")
    func names() throws {
        let all = try VectorCase.load("revocations.json")
        #expect(all.count >= 30 && Set(all.map(\.testDescription)).count == all.count)
    }

    @Test(
        "What a device pushed after a moment is put back so, in whatever order its parcels are read",
        arguments: try VectorCase.load("revocations.json"))
    func revocations(vector: VectorCase) throws {
        let history = try History(vector)
        var random = SeededGenerator(for: vector.testDescription)
        for round in 0..<5 {
            var rewind = Rewind(of: try vector.value("device"), after: try vector.value("moment"))
            for stored in round == 0 ? history.parcels : history.parcels.shuffled(using: &random) {
                rewind.add(stored.parcel, by: stored.by, at: stored.at, position: stored.position)
            }
            let found = try history.answer(to: rewind)
            let expected = ["outcome", "putBack", "older", "keeps"].compactMap { name in
                vector.object[name].map { (name, $0) }
            }
            #expect(
                JSON.object(JSONObject(found)).sorted == JSON.object(JSONObject(expected)).sorted,
                "round \(round), seed \(random.seed)")
        }
    }
}

/// One object as a bag holds it.
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

    /// What the server does, as a vector says it.
    func answer(to rewind: Rewind) throws -> [(String, JSON)] {
        guard case .restore(let settings, let keeps) = rewind.outcome(for: entity) else {
            return [("outcome", .string("gone"))]
        }
        var (putBack, older): ([(String, JSON)], [JSON]) = ([], [])
        for setting in settings {
            var value: Value?
            if let version = setting.version {
                let edits = parcels[Int(version.position) - 1].parcel.edits
                value = try #require(
                    edits.first { $0.attribute == setting.attribute && $0.clock == version.clock }?.value)
            }
            guard let edit = setting.edit(of: entity, value, at: .zero) else { continue }
            putBack.append((edit.attribute.description, edit.value?.json ?? .string("nothing")))
            if setting.isOlder { older.append(.string(edit.attribute.description)) }
        }
        var answer: [(String, JSON)] = [("outcome", .string(putBack.isEmpty ? "stands" : "putBack"))]
        if !putBack.isEmpty { answer.append(("putBack", .object(JSONObject(putBack)))) }
        if !older.isEmpty { answer.append(("older", .array(older))) }
        if keeps { answer.append(("keeps", .bool(true))) }
        return answer
    }
}

extension VectorCase {
    /// One edit of a parcel; without a value if that was thinned away.
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

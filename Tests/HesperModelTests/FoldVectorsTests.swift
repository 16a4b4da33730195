import Testing

@testable import HesperModel

/// Runs `Tests/Vectors/folds.json` (merge.md, The fold).
@Suite("Vectors: folds")
struct FoldVectorsTests {
    @Test("Case names are unique")
    func names() throws {
        let all = try VectorCase.load("folds.json")
        #expect(all.count >= 30 && Set(all.map(\.testDescription)).count == all.count)
    }

    @Test(
        "A bag folds to the expected objects, in any order and with repeated edits",
        arguments: try VectorCase.load("folds.json"))
    func folds(vector: VectorCase) throws {
        let bag =
            try vector.cases("edits").map { RandomBag.Item.edit(try $0.parcel()) }
            + vector.cases("deletedObjects").map { RandomBag.Item.deletion(try $0.deletedObject()) }
        let expected = try #require(vector.object["objects"]).sorted
        var random = SeededGenerator(for: vector.testDescription)
        for round in 0..<20 {
            let repeated = bag.filter { _ in round > 1 && Bool.random(using: &random) }
            let fold = Refold(round == 0 ? bag : (bag + repeated).shuffled(using: &random))
            #expect(fold.page.sorted == expected, "round \(round), seed \(random.seed)")
            #expect(fold.digest.description == (try vector.string("digest")))
            guard case .object(let notes)? = vector.object["members"] else { continue }
            for note in notes.members {
                let id = try #require(UniqueID(note.name))
                #expect(try fold.members(of: id, named: VectorCase(json: note.value)).sorted == note.value.sorted)
            }
        }
    }
}

extension VectorCase {
    /// A parcel with one edit.
    func parcel() throws -> Parcel {
        let attribute: Attribute = try attribute()
        guard let json = object["value"], var value = Value(scalar: json) else {
            throw Malformed(field: "value", value: object["value"])
        }
        if [.creationDate, .sortDate].contains(attribute) { value = .date(try self.value("value")) }
        // An app's edit may arrive before the type of its object is known.
        let type = try has("objectType") ? objectType() : nil
        return Parcel(
            object: try self.value("uniqueID"), objectType: type,
            edits: [Edit(attribute, value, at: try optional("clock"))]
        )
    }

    private func attribute() throws -> Attribute {
        guard let attribute = Attribute(try string("attribute")) else {
            throw Malformed(field: "attribute", value: object["attribute"])
        }
        return attribute
    }

    func objectType() throws -> ObjectType {
        guard let type = ObjectType(try string("objectType")) else {
            throw Malformed(field: "objectType", value: object["objectType"])
        }
        return type
    }

    func deletedObject() throws -> DeletedObject {
        DeletedObject(
            uniqueID: try value("uniqueID"), objectType: try objectType(),
            mergedInto: try optional("mergedInto"), deletionDate: try value("deletionDate"))
    }
}

extension Refold {
    /// All existing objects in the form of `changes` in a sync response, sorted by ID.
    var page: JSON {
        var members: [(String, JSON)] = Section.allCases.compactMap { section in
            let bodies = entities.values.filter { $0.section == section && $0.exists }
                .sorted { $0.uniqueID < $1.uniqueID }.map(\.body)
            return bodies.isEmpty ? nil : (section.name, .array(bodies.compactMap { try? JSONReader.read($0) }))
        }
        let bodies = deleted.values.sorted { $0.uniqueID < $1.uniqueID }.map(\.body)
        if !bodies.isEmpty {
            members.append(("deletedObjects", .array(bodies.compactMap { try? JSONReader.read($0) })))
        }
        return .object(JSONObject(members))
    }

    /// The live object that an ID leads to.
    func resolve(_ id: UniqueID) -> UniqueID? {
        var (id, seen): (UniqueID, Set<UniqueID>) = (id, [])
        while let next = deleted[id]?.mergedInto, seen.insert(id).inserted { id = next }
        return deleted[id] == nil && entities[id]?.exists == true ? id : nil
    }

    /// The resolved members of a note, for those of `tags` and `attachments` that the vector names.
    fileprivate func members(of id: UniqueID, named names: VectorCase) -> JSON {
        guard case .note(let note)? = entities[id] else { return .null }
        let all = [("tags", note.tags), ("attachments", note.attachments)]
        return .object(
            JSONObject(
                all.filter { names.has($0.0) }.map { name, members in
                    (name, .array(members.resolved(resolve).map { .string($0.description) }))
                }))
    }
}

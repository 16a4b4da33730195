import Testing

@testable import HesperModel

/// Folds a bag from scratch, as `hesper check` does, to compare the result with the stored state.
struct Refold {
    private(set) var entities: [UniqueID: Entity] = [:]
    private(set) var deleted: [UniqueID: DeletedObject] = [:]

    mutating func add(_ parcel: Parcel) {
        guard deleted[parcel.object] == nil else { return }
        let section = parcel.objectType.map(Section.init) ?? .objects
        var entity = entities[parcel.object] ?? section.empty(parcel.object)
        for edit in parcel.edits { entity.fold(edit) }
        entities[parcel.object] = entity
    }

    mutating func add(_ deletion: DeletedObject) {
        entities[deletion.uniqueID] = nil
        if deleted[deletion.uniqueID]?.fold(deletion) == nil { deleted[deletion.uniqueID] = deletion }
    }

    /// The digest of all objects, computed from scratch.
    var digest: Digest {
        entities.values.map(\.digest).reduce(.zero, ^) ^ deleted.values.map(\.digest).reduce(.zero, ^)
    }
}

extension Entity {
    /// The body as text, for messages.
    var json: String { String(decoding: body, as: UTF8.self) }
}

extension MemoryBag {
    var refolded: Refold {
        var refold = Refold()
        for parcel in parcels.values.joined() { refold.add(parcel) }
        for deletion in deletions { refold.add(deletion) }
        return refold
    }

    /// Checks the invariants that hold after every push.
    func check(_ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation) {
        let refold = refolded
        #expect(refold.digest == foldedDigest, comment, sourceLocation: sourceLocation)
        var names: Set<String> = []
        for (id, state) in folded {
            switch state {
            case .entity(let entity, _):
                #expect(refold.entities[id] == entity, comment, sourceLocation: sourceLocation)
                #expect(refold.entities[id]?.json == entity.json, comment, sourceLocation: sourceLocation)
                if case .tag(let tag) = entity, tag.exists {
                    #expect(names.insert(TagName.fold(tag.name)).inserted, comment, sourceLocation: sourceLocation)
                }
            case .deleted(let deleted, _):
                #expect(refold.deleted[id] == deleted, comment, sourceLocation: sourceLocation)
            }
        }
        let known = refold.entities.keys.filter { refold.entities[$0] != nil }.count + refold.deleted.count
        #expect(known == folded.count, "every object of the bag must have a state", sourceLocation: sourceLocation)
    }
}

import HesperModel
import HesperStore
import Hummingbird

/// `GET /v1/notes/{uniqueID}/edits` and `GET /v1/objects/{uniqueID}/edits`: the edits of a note or of an app's own object, the
/// newest first. The edits of a deleted object can be read until they are purged.
struct Edits: Resource {
    let backend: Backend

    func add(to routes: inout Routes) {
        routes.get("/v1/notes/{uniqueID}/edits", ["limit", "cursor"], tokens: .read) {
            try await edits(in: .notes, $0, $1)
        }
        routes.get("/v1/objects/{uniqueID}/edits", ["limit", "cursor"], tokens: .read) {
            try await edits(in: .objects, $0, $1)
        }
    }

    private func edits(in section: Section, _ request: APIRequest, _ session: Session) async throws -> Response {
        let id = try request.uniqueID()
        let limit = try request.limit()
        let cursor = try request.cursor(2)
        let (scope, account) = (session.scope, session.account)
        let graceStart = backend.graceStart
        let body = try await backend.store.read { snapshot in
            let entity = try Edits.entity(id, of: section, in: scope, snapshot, graceStart: graceStart)
            let names = try DeviceNames(of: account, in: snapshot)
            return try Edits.page(of: entity, in: scope, snapshot, limit: limit, cursor: cursor, names: names)
        }
        return .json(body)
    }

    /// The object whose edits are requested. If the object has been deleted, its last state is computed from its edits.
    private static func entity(
        _ id: UniqueID, of section: Section, in scope: ScopeID, _ snapshot: any Snapshot, graceStart: Timestamp
    ) throws -> Entity {
        switch try snapshot.state(of: id, in: scope) {
        case .entity(let entity, _)? where entity.exists && entity.section == section: return entity
        case .deleted(let deleted, _)? where Section(deleted.objectType) == section:
            guard let arrival = try snapshot.arrivalDate(ofDeleted: id, in: scope), arrival >= graceStart else {
                throw Problem(deleted: deleted)
            }
            return try snapshot.lastState(ofDeleted: deleted, in: scope)
        default: throw Problem.notFound(id)
        }
    }

    private static func page(
        of entity: Entity, in scope: ScopeID, _ snapshot: any Snapshot, limit: Int, cursor: Cursor?, names: DeviceNames
    ) throws -> [UInt8] {
        // A cursor consists of two numbers: the position of a parcel, and how many edits of this parcel earlier pages contain.
        var before = cursor.map { $0.numbers[0] + 1 }
        var skip = Int(clamping: cursor?.numbers[1] ?? 0)
        var shown = 0
        var next: Cursor?
        var writer = JSONWriter(capacity: 4_096)
        try writer.object { writer in
            writer.name("edits")
            try writer.array { writer in
                parcels: while true {
                    let parcels = try snapshot.history(of: entity.uniqueID, in: scope, before: before, limit: 16)
                    for stored in parcels {
                        before = stored.position
                        let edits = stored.parcel.edits.filter { $0.clock != nil }
                            .sorted { ($0.clock ?? .zero) > ($1.clock ?? .zero) }
                        for (index, edit) in edits.enumerated().dropFirst(skip) {
                            guard shown < limit, shown == 0 || writer.bytes.count < Limits.pageBytes else {
                                next = Cursor(stored.position, Int64(index))
                                break parcels
                            }
                            write(edit, of: stored, entity, names, to: &writer)
                            shown += 1
                        }
                        skip = 0
                    }
                    if parcels.isEmpty { break }
                }
            }
            if let next { writer.member("nextCursor", next.text) }
        }
        return writer.bytes
    }

    private static func write(
        _ edit: Edit, of stored: StoredParcel, _ entity: Entity, _ names: DeviceNames, to writer: inout JSONWriter
    ) {
        guard let clock = edit.clock else { return }
        writer.object { writer in
            writer.member("attribute", edit.attribute.description)
            if let value = edit.value { writer.member("value", value.json) }
            writer.member("clock", clock)
            writer.name("device")
            names.write(clock.node, to: &writer)
            // If a device sent a write without clocks, the edits have clocks of the server. `pushedBy` then names the device.
            if let sender = stored.pushedBy, sender != clock.node {
                writer.name("pushedBy")
                names.write(sender, to: &writer)
            }
            writer.member("pushedAt", stored.pushedAt)
            writer.member("standing", entity.register(edit.attribute)?.clock == clock)
        }
    }
}

extension Snapshot {
    /// The last state of a deleted object, computed by folding its stored edits.
    func lastState(ofDeleted deleted: DeletedObject, in scope: ScopeID) throws -> Entity {
        let id = deleted.uniqueID
        var entity = Section(deleted.objectType).empty(id)
        var before: Int64?
        while true {
            let parcels = try history(of: id, in: scope, before: before, limit: 16)
            guard let last = parcels.last else { return entity }
            for edit in parcels.flatMap(\.parcel.edits) { entity.fold(edit) }
            before = last.position
        }
    }
}

/// The names of an account's devices and access tokens, by node.
struct DeviceNames {
    private let names: [NodeID: String]

    init(of account: UniqueID, in snapshot: any Snapshot) throws {
        let devices = try snapshot.devices(of: account, tokens: nil, after: nil, limit: 10_000)
        names = Dictionary(devices.map { ($0.node, $0.name) }) { first, _ in first }
    }

    /// Writes the ID and the name of the device that made a change. The name is left out if the device has signed out or if the
    /// server made the change.
    func write(_ node: NodeID, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("uniqueID", node.description)
            if let name = names[node] { writer.member("name", name) }
        }
    }
}

import HesperModel
import HesperStore
import Hummingbird

/// `GET /v1/recently-deleted`: the deleted notes that can still be restored, the most recently deleted first.
struct RecentlyDeleted: Resource {
    let backend: Backend

    func add(to routes: inout Routes) {
        routes.get("/v1/recently-deleted", ["limit", "cursor"], tokens: .read, use: list)
    }

    private func list(_ request: APIRequest, _ session: Session) async throws -> Response {
        let limit = try request.limit()
        let cursor = try request.cursor(1)
        let (scope, account) = (session.scope, session.account)
        let graceStart = backend.graceStart
        let body = try await backend.store.read { snapshot in
            let names = try DeviceNames(of: account, in: snapshot)
            let notes = try snapshot.deletedNotes(
                in: scope, since: graceStart, before: cursor?.numbers[0], limit: limit + 1)
            var writer = JSONWriter(capacity: 4_096)
            try writer.object { writer in
                writer.name("notes")
                try writer.array { writer in
                    for note in notes.prefix(limit) {
                        let entity = try snapshot.lastState(ofDeleted: note.deleted, in: scope)
                        write(note, entity, names, to: &writer)
                    }
                }
                if notes.count > limit { writer.member("nextCursor", Cursor(notes[limit - 1].sequence).text) }
            }
            return writer.bytes
        }
        return .json(body)
    }

    private func write(_ note: DeletedNote, _ entity: Entity, _ names: DeviceNames, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("uniqueID", note.deleted.uniqueID)
            if case .note(let note) = entity { writer.member("firstLine", note.firstLine) }
            writer.member("deletionDate", note.deleted.deletionDate)
            writer.member("purgeDate", note.arrivalDate.adding(backend.grace))
            if let node = note.deletedBy {
                writer.name("device")
                names.write(node, to: &writer)
            }
        }
    }
}

extension Note {
    /// The first line that is not blank, truncated to 200 characters.
    fileprivate var firstLine: String {
        let line = text.split(whereSeparator: \.isNewline).first { !$0.allSatisfy(\.isWhitespace) } ?? ""
        return String(line.prefix(200))
    }
}

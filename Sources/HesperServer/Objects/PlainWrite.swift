import HesperModel
import HesperStore

/// Turns plain fields into the edits that make an object so: only what differs from what stands (protocol.md, Two forms).
struct PlainWrite {
    let id: UniqueID
    let section: Section
    let fields: PlainFields
    /// Whether fields left out keep what stands (PATCH), or take their default (PUT).
    let isPatch: Bool
    /// Whether the writer has said, by `If-Match`, which version it has read.
    let hasRead: Bool
    let resolver: Resolver

    /// The push that makes `entity` so, stamped with the server's clock; an empty one, if it is so already.
    func push(_ entity: Entity?, at now: Timestamp, stamp: inout Stamp) throws -> Push {
        var settings = try self.settings(entity, at: now)
        settings.removeAll { attribute, value in entity?.standing(attribute) == value }
        guard !settings.isEmpty else { return Push() }
        let clock = stamp.tick(after: entity)
        let edits = settings.map { Edit($0.0, $0.1, at: $0.0.isMutable ? clock : nil) }
        var change = Change(
            uniqueID: id, section: section, edits: edits, textBase: entity?.register(.text)?.clock, textAfter: [])
        change.replacesUnread = !hasRead
        return Push([.change(change)])
    }

    private func settings(_ entity: Entity?, at now: Timestamp) throws -> [(Attribute, Value)] {
        let given = fields.values.sorted { $0.key.description < $1.key.description }.map { ($0.key, $0.value) }
        var settings = given.filter { $0.0.isMutable } + given.filter { !$0.0.isMutable }
        guard section == .notes else { return settings }
        if case .date(let standing)? = entity?.content[.creationDate] {
            if let date = fields.values[.creationDate], date != .date(standing) {
                throw Problem(
                    .immutable, "The note was made at \(standing); that does not change.", at: "/creationDate")
            }
        } else if fields.values[.creationDate] == nil {
            settings.append((.creationDate, .date(now)))
        }
        if !isPatch, let entity { settings += defaults(entity.content) }
        var note = Note(uniqueID: id)
        if case .note(let standing)? = entity { note = standing }
        let members = try resolver.members(of: note)
        settings += try memberSettings(fields.tags, members.tags, "tags") { .tag($0) }
        settings += try memberSettings(fields.attachments, members.attachments, "attachments") { .attachment($0) }
        return settings
    }

    /// What gives fields that were left out their default; those that have it already need no edit.
    private func defaults(_ content: Content) -> [(Attribute, Value)] {
        Field.allCases.filter { $0.section == section && fields.values[.field($0)] == nil }.compactMap { field in
            guard let defaultValue = content.defaultValue(of: field), content.value(field) != defaultValue else {
                return nil
            }
            return (.field(field), defaultValue)
        }
    }

    /// What takes a note from the members it shows to those that it is to have.
    private func memberSettings(
        _ wanted: [UniqueID]?, _ shown: [UniqueID], _ field: String, _ attribute: (UniqueID) -> Attribute
    ) throws -> [(Attribute, Value)] {
        guard wanted != nil || !isPatch else { return [] }
        var live: [UniqueID] = []
        for (index, id) in (wanted ?? []).enumerated() {
            if let target = try resolver.live(id) {
                if !live.contains(target) { live.append(target) }
            } else if try resolver.snapshot.state(of: id, in: resolver.scope) == nil {
                // A deleted one may stand in a list that was read a moment ago; one that never was is a mistake.
                throw Problem(.invalidField, "Nothing in this account has the ID \(id).", at: "/\(field)/\(index)")
            }
        }
        let added = live.filter { !shown.contains($0) }.map { (attribute($0), Value.bool(true)) }
        let removed = shown.filter { !live.contains($0) }.map { (attribute($0), Value.bool(false)) }
        return added + removed
    }
}

extension Entity {
    /// The value that an attribute has, whether or not it may change.
    fileprivate func standing(_ attribute: Attribute) -> Value? {
        if case .field(let field) = attribute { content[field] } else { register(attribute)?.value }
    }
}

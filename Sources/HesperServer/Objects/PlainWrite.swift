import HesperModel
import HesperStore

/// Computes the edits that give an object the values in a request without clocks. Values that the object already has cause no
/// edits (protocol.md, Two forms).
struct PlainWrite {
    let id: UniqueID
    let section: Section
    let fields: PlainFields
    /// True for `PATCH`, which leaves omitted fields unchanged. False for `PUT` and `POST`, which set omitted fields to their
    /// default values.
    let isPatch: Bool
    /// Whether the request has an `If-Match` header with the ETag of the version that the client has read.
    let hasRead: Bool
    let resolver: Resolver

    /// The push that gives `entity` the values of the request, with clocks of the server; empty if no value changes.
    func push(_ entity: Entity?, at now: Timestamp, stamp: inout Stamp) throws -> Push {
        var fields = fields
        let created = try addNamedTags(to: &fields, at: now, stamp: &stamp)
        var settings = try self.settings(fields, entity, at: now) + created.map { (.tag($0.uniqueID), .bool(true)) }
        settings.removeAll { attribute, value in entity?.currentValue(attribute) == value }
        guard !settings.isEmpty else { return Push() }
        let clock = stamp.tick(after: entity)
        let edits = settings.map { Edit($0.0, $0.1, at: $0.0.isMutable ? clock : nil) }
        var change = Change(
            uniqueID: id, section: section, edits: edits,
            ancestries: (entity ?? section.empty(id)).ancestries(of: edits, after: []))
        change.replacesUnread = !hasRead
        return Push(created.map { .change($0) } + [.change(change)])
    }

    /// Adds the tags in `tagNames` to `tags`.
    /// - Returns: the changes that create the tags that do not exist.
    private func addNamedTags(to fields: inout PlainFields, at now: Timestamp, stamp: inout Stamp) throws -> [Change] {
        guard let names = fields.tagNames else { return [] }
        var tags = fields.tags ?? []
        var created: [String: Change] = [:]
        for name in names {
            let folded = TagName.fold(name)
            if let id = try resolver.snapshot.tag(named: folded, in: resolver.scope) {
                tags.append(id)
            } else if created[folded] == nil {
                let edit = Edit(.name, .string(name), at: stamp.tick(after: nil))
                created[folded] = Change(uniqueID: .timeOrdered(at: now), section: .tags, edits: [edit])
            }
        }
        fields.tags = tags
        return created.values.sorted { $0.uniqueID < $1.uniqueID }
    }

    private func settings(_ fields: PlainFields, _ entity: Entity?, at now: Timestamp) throws -> [(Attribute, Value)] {
        let given = fields.values.sorted { $0.key.description < $1.key.description }.map { ($0.key, $0.value) }
        var settings = given.filter { $0.0.isMutable } + given.filter { !$0.0.isMutable }
        guard section == .notes else { return settings }
        if case .date(let current)? = entity?.content[.creationDate] {
            if let date = fields.values[.creationDate], date != .date(current) {
                throw Problem(
                    .immutable, "creationDate cannot be changed. Its value is \(current).", at: "/creationDate")
            }
        } else if fields.values[.creationDate] == nil {
            settings.append((.creationDate, .date(now)))
        }
        if !isPatch, let entity { settings += defaults(fields, entity.content) }
        var note = Note(uniqueID: id)
        if case .note(let current)? = entity { note = current }
        let members = try resolver.members(of: note)
        settings += try memberSettings(fields.tags, members.tags, "tags") { .tag($0) }
        settings += try memberSettings(fields.attachments, members.attachments, "attachments") { .attachment($0) }
        return settings
    }

    /// The attributes of omitted fields, with their default values. Fields that already have their default value are left out.
    private func defaults(_ fields: PlainFields, _ content: Content) -> [(Attribute, Value)] {
        Field.allCases.filter { $0.section == section && fields.values[.field($0)] == nil }.compactMap { field in
            guard let defaultValue = content.defaultValue(of: field), content.value(field) != defaultValue else {
                return nil
            }
            return (.field(field), defaultValue)
        }
    }

    /// The attributes to set, so that a note has exactly the wanted tags or attachments: true for each one that must be added, and
    /// false for each one that must be removed.
    /// - Parameters:
    ///   - wanted: the complete list of tags or attachments in the request; nil if the request omits the list.
    ///   - shown: the live tags or attachments that the note has before the write.
    private func memberSettings(
        _ wanted: [UniqueID]?, _ shown: [UniqueID], _ field: String, _ attribute: (UniqueID) -> Attribute
    ) throws -> [(Attribute, Value)] {
        guard wanted != nil || !isPatch else { return [] }
        var live: [UniqueID] = []
        for (index, id) in (wanted ?? []).enumerated() {
            if let target = try resolver.live(id) {
                if !live.contains(target) { live.append(target) }
            } else if try resolver.snapshot.state(of: id, in: resolver.scope) == nil {
                // The ID of a deleted object is ignored, because the client may have read the list before the deletion. The ID of
                // an object that never existed is an error.
                throw Problem(.invalidField, "This account has no object with the ID \(id).", at: "/\(field)/\(index)")
            }
        }
        let added = live.filter { !shown.contains($0) }.map { (attribute($0), Value.bool(true)) }
        let removed = shown.filter { !live.contains($0) }.map { (attribute($0), Value.bool(false)) }
        return added + removed
    }
}

extension Entity {
    /// The current value of an attribute.
    fileprivate func currentValue(_ attribute: Attribute) -> Value? {
        if case .field(let field) = attribute { content[field] } else { register(attribute)?.value }
    }
}

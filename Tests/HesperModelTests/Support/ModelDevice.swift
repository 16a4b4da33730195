@testable import HesperModel

/// A device that follows clients.md, The rules every client follows. `copy` is what the server acknowledged or sent; what
/// is unsent lies over it.
struct ModelDevice {
    struct Key: Hashable {
        let object: UniqueID
        let attribute: Attribute
    }

    /// A register that was set here and that no server has acknowledged.
    struct Unsent {
        let value: Value
        var clock: Clock
        /// For text: what it started from.
        var base: Clock?
        var baseValue: String?
        /// It was written on another note, so the server knows its base only there.
        var isMoved = false
    }

    /// Another after each time that it signed in.
    private(set) var node: NodeID
    /// True time, which only the test knows.
    var now = Timestamp(clamping: 0)
    /// How wrong its wall clock is, in milliseconds.
    var clockError: Int64 = 0
    /// What it has learned of that from the server.
    var offset: Int64 = 0
    var source: ClockSource

    var copy: [UniqueID: Entity] = [:]
    var deleted: [UniqueID: DeletedObject] = [:]
    var unsent: [Key: Unsent] = [:]
    /// Objects made here that the server has not acknowledged, with what is set once.
    var made: [UniqueID: (section: Section, edits: [Edit])] = [:]
    var deletions: [UniqueID: Deletion] = [:]
    var token: ModelServer.Token?

    /// What a restored server lacks.
    var relays: [Push.Element] = []
    /// Texts that were sent and not answered, in the order of writing, by note.
    var unanswered: [UniqueID: [Unsent]] = [:]
    /// Texts that were answered `deleted`, by note.
    var orphans: [UniqueID: Unsent] = [:]
    /// What was typed since a note was opened.
    var typed: [UniqueID: String] = [:]
    /// What was refused for good.
    var shelf: [Problem] = []
    /// Whether the server may lack the texts that its own descend from.
    var startedOver = false
    /// Of the latest answer.
    var receipts: [Receipt] = []
    var digestOfServer: Digest?

    init(_ node: UInt64) {
        self.node = NodeID(node)
        source = ClockSource(node: self.node)
    }

    // MARK: Reading

    /// What a person sees; nil for what is not there.
    func entity(_ id: UniqueID) -> Entity? {
        guard deleted[id] == nil, deletions[id] == nil, var entity = copy[id] ?? made[id]?.section.empty(id) else {
            return nil
        }
        for edit in made[id]?.edits ?? [] { entity.fold(edit) }
        for (key, edit) in unsent where key.object == id {
            entity.fold(Edit(key.attribute, edit.value, at: edit.clock))
        }
        return entity.exists ? entity : nil
    }

    func note(_ id: UniqueID) -> Note? { if case .note(let note)? = entity(id) { note } else { nil } }
    func tag(_ id: UniqueID) -> Tag? { if case .tag(let tag)? = entity(id) { tag } else { nil } }

    /// An unsent text is left alone, whatever came back.
    func text(_ id: UniqueID) -> String? {
        guard let note = note(id) else { return nil }
        if case .string(let text)? = unsent[Key(object: id, attribute: .text)]?.value { return text }
        return note.text
    }

    /// The live object that an ID leads to.
    func resolve(_ id: UniqueID) -> UniqueID? {
        var id = id
        var seen: Set<UniqueID> = []
        while let next = deleted[id]?.mergedInto ?? deletions[id]?.mergedInto, seen.insert(id).inserted { id = next }
        return entity(id) == nil ? nil : id
    }

    func tags(of id: UniqueID) -> [UniqueID] { note(id)?.tags.resolved(resolve) ?? [] }
    func tagNames(of id: UniqueID) -> [String] { tags(of: id).compactMap { tag($0)?.name } }
    func attachments(of id: UniqueID) -> [UniqueID] { note(id)?.attachments.resolved(resolve) ?? [] }

    var ids: Set<UniqueID> { Set(copy.keys).union(made.keys).filter { entity($0) != nil } }
    var notes: Set<UniqueID> { ids.filter { note($0) != nil } }
    var tags: Set<UniqueID> { ids.filter { tag($0) != nil } }

    /// Over all that the server has acknowledged or sent.
    var digest: Digest {
        copy.values.map(\.digest).reduce(.zero, ^) ^ deleted.values.map(\.digest).reduce(.zero, ^)
    }

    /// What it knows of the server's offset stays, as does all that is unsent and unanswered.
    mutating func signInAgain(as node: UInt64) {
        self.node = NodeID(node)
        let last = Clock(time: source.time, node: source.node)
        source = ClockSource(node: self.node, last: last)
    }

    var hasUnsent: Bool { !unsent.isEmpty || !made.isEmpty || !deletions.isEmpty || !relays.isEmpty }

    // MARK: Writing

    mutating func tick() -> Clock {
        source.tick(at: UInt64(max(now.milliseconds + clockError + offset, 0)))
    }

    mutating func set(_ id: UniqueID, _ attribute: Attribute, _ value: Value) {
        let key = Key(object: id, attribute: attribute)
        var edit = Unsent(value: value, clock: tick())
        if attribute == .text {
            if let earlier = unsent[key] {
                // What started from an older version still does, whatever has come back meanwhile.
                (edit.base, edit.baseValue, edit.isMoved) = (earlier.base, earlier.baseValue, earlier.isMoved)
            } else if let standing = copy[id]?.register(.text) {
                edit.base = standing.clock
                if case .string(let text) = standing.value { edit.baseValue = text }
            }
        }
        unsent[key] = edit
    }

    mutating func make(_ section: Section, _ id: UniqueID, _ edits: [Edit] = []) { made[id] = (section, edits) }

    mutating func makeNote(_ text: String, _ id: UniqueID, tags: [UniqueID] = [], created: Timestamp? = nil) {
        make(.notes, id, [Edit(.creationDate, .date(created ?? now), at: nil)])
        set(id, .text, .string(text))
        for tag in tags { set(id, .tag(tag), .bool(true)) }
    }

    mutating func makeTag(_ name: String, _ id: UniqueID) {
        make(.tags, id)
        set(id, .name, .string(name))
    }

    mutating func write(_ id: UniqueID, _ text: String) {
        set(id, .text, .string(text))
        typed[id] = text
    }

    /// Closes all notes.
    mutating func close() { typed = [:] }

    mutating func archive(_ id: UniqueID, _ archived: Bool = true) { set(id, .archived, .bool(archived)) }
    mutating func addTag(_ tag: UniqueID, to id: UniqueID) { set(id, .tag(tag), .bool(true)) }
    mutating func removeTag(_ tag: UniqueID, from id: UniqueID) { set(id, .tag(tag), .bool(false)) }
    mutating func attach(_ attachment: UniqueID, to id: UniqueID, _ isIn: Bool = true) {
        set(id, .attachment(attachment), .bool(isIn))
    }
    mutating func rename(_ id: UniqueID, _ name: String) { set(id, .name, .string(name)) }

    mutating func delete(_ id: UniqueID) {
        guard let type = entity(id)?.objectType else { return }
        deletions[id] = Deletion(
            uniqueID: id, objectType: type, deletionDate: now, textSeen: textSeen(of: id),
            textAfter: (unanswered[id] ?? []).map(\.clock))
        forget(id)
    }

    /// Of its own words it knows more than the server has.
    private func textSeen(of id: UniqueID) -> Deletion.TextSeen? {
        guard note(id) != nil else { return nil }
        let unsent = unsent[Key(object: id, attribute: .text)]
        let seen = unsent == nil ? copy[id]?.register(.text)?.clock : unsent?.base
        return seen.map { .version($0) } ?? Deletion.TextSeen.none
    }

    mutating func forget(_ id: UniqueID) {
        made[id] = nil
        unanswered[id] = nil
        typed[id] = nil
        for key in unsent.keys where key.object == id { unsent[key] = nil }
    }
}

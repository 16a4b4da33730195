@testable import HesperModel

/// A device that follows clients.md, The rules every client follows. `copy` is the state that the server acknowledged or sent;
/// unsent edits are applied on top of it.
struct ModelDevice {
    struct Key: Hashable {
        let object: UniqueID
        let attribute: Attribute
    }

    /// A register that was set locally and that the server has not acknowledged.
    struct Unsent {
        let value: Value
        var clock: Clock
        /// For text: the base of the edit.
        var base: Clock?
        var baseValue: String?
        /// Whether it was written on another note, so that the server knows its base only there.
        var isMoved = false
    }

    /// Changes with every sign-in.
    private(set) var node: NodeID
    /// The actual time, which the device does not know.
    var now = Timestamp(clamping: 0)
    /// The error of the device's wall clock, in milliseconds.
    var clockError: Int64 = 0
    /// The correction that the device computed from the server's clock, in milliseconds.
    var offset: Int64 = 0
    var source: ClockSource

    var copy: [UniqueID: Entity] = [:]
    var deleted: [UniqueID: DeletedObject] = [:]
    var unsent: [Key: Unsent] = [:]
    /// Objects created locally that the server has not acknowledged, with their edits without clocks.
    var created: [UniqueID: (section: Section, edits: [Edit])] = [:]
    var deletions: [UniqueID: Deletion] = [:]
    var token: ModelServer.Token?

    /// Elements to give back to a restored server.
    var givenBack: [Push.Element] = []
    /// Texts that were sent without a response so far, in the order of writing, by note.
    var unanswered: [UniqueID: [Unsent]] = [:]
    /// Texts whose receipt was `deleted`, by note.
    var orphans: [UniqueID: Unsent] = [:]
    /// Text typed into notes that are still open.
    var typed: [UniqueID: String] = [:]
    /// Problems of edits that were rejected permanently.
    var rejections: [Problem] = []
    /// Whether the server may lack the bases of this device's texts.
    var startedOver = false
    /// The receipts of the last response.
    var receipts: [Receipt] = []
    var digestOfServer: Digest?

    init(_ node: UInt64) {
        self.node = NodeID(node)
        source = ClockSource(node: self.node)
    }

    // MARK: Reading

    /// The object as the user sees it; nil if it does not exist.
    func entity(_ id: UniqueID) -> Entity? {
        guard deleted[id] == nil, deletions[id] == nil, var entity = copy[id] ?? created[id]?.section.empty(id) else {
            return nil
        }
        for edit in created[id]?.edits ?? [] { entity.fold(edit) }
        for (key, edit) in unsent where key.object == id {
            entity.fold(Edit(key.attribute, edit.value, at: edit.clock))
        }
        return entity.exists ? entity : nil
    }

    func note(_ id: UniqueID) -> Note? { if case .note(let note)? = entity(id) { note } else { nil } }
    func tag(_ id: UniqueID) -> Tag? { if case .tag(let tag)? = entity(id) { tag } else { nil } }

    /// An unsent text is shown unmerged, whatever the server sent.
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

    var ids: Set<UniqueID> { Set(copy.keys).union(created.keys).filter { entity($0) != nil } }
    var notes: Set<UniqueID> { ids.filter { note($0) != nil } }
    var tags: Set<UniqueID> { ids.filter { tag($0) != nil } }

    /// The digest of the state that the server acknowledged or sent.
    var digest: Digest {
        copy.values.map(\.digest).reduce(.zero, ^) ^ deleted.values.map(\.digest).reduce(.zero, ^)
    }

    /// Signs in again. The offset and everything unsent or without a response is retained.
    mutating func signInAgain(as node: UInt64) {
        self.node = NodeID(node)
        let last = Clock(time: source.time, node: source.node)
        source = ClockSource(node: self.node, last: last)
    }

    var hasUnsent: Bool { !unsent.isEmpty || !created.isEmpty || !deletions.isEmpty || !givenBack.isEmpty }

    // MARK: Writing

    mutating func tick() -> Clock {
        source.tick(at: UInt64(max(now.milliseconds + clockError + offset, 0)))
    }

    mutating func set(_ id: UniqueID, _ attribute: Attribute, _ value: Value) {
        let key = Key(object: id, attribute: attribute)
        var edit = Unsent(value: value, clock: tick())
        if attribute == .text {
            if let earlier = unsent[key] {
                // A text keeps the base of the unsent text that it replaces, whatever was received meanwhile.
                (edit.base, edit.baseValue, edit.isMoved) = (earlier.base, earlier.baseValue, earlier.isMoved)
            } else if let current = copy[id]?.register(.text) {
                edit.base = current.clock
                if case .string(let text) = current.value { edit.baseValue = text }
            }
        }
        unsent[key] = edit
    }

    mutating func make(_ section: Section, _ id: UniqueID, _ edits: [Edit] = []) { created[id] = (section, edits) }

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
            uniqueID: id, objectType: type, deletionDate: now, seenTexts: seenTexts(of: id),
            textsAfter: [.text: (unanswered[id] ?? []).map(\.clock)])
        forget(id)
    }

    /// The base of the unsent text, because the device has seen its own words.
    private func seenTexts(of id: UniqueID) -> [Attribute: Clock]? {
        guard note(id) != nil else { return nil }
        let unsent = unsent[Key(object: id, attribute: .text)]
        let seen = unsent == nil ? copy[id]?.register(.text)?.clock : unsent?.base
        return seen.map { [.text: $0] } ?? [:]
    }

    mutating func forget(_ id: UniqueID) {
        created[id] = nil
        unanswered[id] = nil
        typed[id] = nil
        for key in unsent.keys where key.object == id { unsent[key] = nil }
    }
}

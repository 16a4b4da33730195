internal import HesperModel

/// The contents of one push (protocol.md, Sync).
package struct PushBatch: Sendable, Equatable {
    /// The data of one object that a push sends.
    package struct Part: Sendable, Equatable {
        var id: UniqueID
        var type: String
        /// The fields of the object that are set once. Nil unless the object is new, or these fields are resent to a restored server.
        var made: LocalObject.Made?
        var edits: [String: LocalEdit]
    }

    var parts: [Part] = []
    var deletions: [LocalDeletion] = []
    /// Whether the push resends data that a restored server lacks.
    var isRelay = false
    /// This device's time when the push was sent; nil for an event, which answers no request.
    var sent: Timestamp?

    package var isEmpty: Bool { parts.isEmpty && deletions.isEmpty }
    var count: Int { parts.count + deletions.count }

    /// The maximum number of objects and deletions in a push. Servers accept more.
    static let objectLimit = 1_500
    /// The maximum estimated size of a push, in bytes. Servers accept more.
    private static let byteLimit = 4 << 20

    /// Adds a part unless the push is full. An empty push accepts a part of any size.
    /// - Parameters:
    ///   - byteCount: the estimated size of the part.
    ///   - size: the estimated size of the push. `byteCount` is added to it.
    ///   - limit: the maximum number of objects and deletions.
    /// - Returns: whether the part was added.
    mutating func add(_ part: Part, byteCount: Int, size: inout Int, limit: Int) -> Bool {
        size += byteCount
        guard isEmpty || (count < limit && size <= PushBatch.byteLimit) else { return false }
        parts.append(part)
        return true
    }

    /// The push in JSON, as the member `changes` of the request.
    /// - Parameter withBases: whether to send, with each text, also the text of its base. This is necessary if the server may lack
    ///   the bases.
    func changes(withBases: Bool) -> JSON {
        var sections: [String: [JSON]] = [:]
        for part in parts {
            var descent: [(String, JSON?)] = []
            if let text = part.edits[AttributeName.text], let origin = text.descent {
                if let base = origin.base {
                    descent.append(("textBase", .string(base.clock.description)))
                    descent.append(("textBaseValue", withBases || origin.isMoved ? .string(base.value) : nil))
                }
                descent.append(("textAfter", JSON(clocks: origin.after.filter { $0 != text.clock })))
            }
            let change = LocalObject.change(
                id: part.id, type: part.type, fixed: part.made?.fixed ?? [:], cells: part.edits.mapValues(\.cell),
                descent: descent)
            sections[TypeName.section(of: part.type), default: []].append(change)
        }
        var members: [(String, JSON)] = []
        if !deletions.isEmpty { members.append(("deletedObjects", .array(deletions.map(\.change)))) }
        for (section, changes) in sections.sorted(by: { $0.key < $1.key }) {
            members.append((section, .array(changes)))
        }
        return .object(JSONObject(members))
    }
}

extension RecordsTransaction {
    /// The next push of unsent changes: DeletedObjects, tags, attachments, then all other objects (clients.md, rule 10). Changes
    /// that exceeded the quota are left out while they are held. An attachment whose bytes are not uploaded yet is left out too,
    /// and so are the edits that add it to notes.
    func nextPush(limit: Int) throws -> PushBatch {
        var push = PushBatch()
        push.deletions = Array(try takeDeletions().prefix(limit))
        var size = push.count * 200
        let uploading = try attachmentsToUpload()
        let types = try types
        let order =
            [TypeName.tag, TypeName.attachment].filter(types.contains)
            + types.filter { $0 != TypeName.tag && $0 != TypeName.attachment }
        for type in order {
            var isFull = false
            try forEachPending(type) { object in
                guard object.made?.isHeld != true, object.made?.needsBytes != true, try deletion(of: object.id) == nil
                else { return true }
                let edits = object.edits.filter { !$0.value.isHeld && !uploading.contains($0.key) }
                guard object.made != nil || !edits.isEmpty else { return true }
                let part = PushBatch.Part(id: object.id, type: type, made: object.made, edits: edits)
                let byteCount = 200 + edits.reduce(0) { $0 + 100 + 2 * $1.value.value.byteCount }
                isFull = !push.add(part, byteCount: byteCount, size: &size, limit: limit)
                return !isFull
            }
            if isFull { break }
        }
        try sendTexts(&push)
        return push
    }

    /// The names of registers that state whether a note has an attachment, for all attachments whose bytes are not uploaded yet.
    private func attachmentsToUpload() throws -> Set<String> {
        guard try types.contains(TypeName.attachment) else { return [] }
        var names: Set<String> = []
        try forEachPending(TypeName.attachment) { attachment in
            if attachment.made?.needsBytes == true { names.insert(AttributeName.attachment(attachment.id)) }
            return true
        }
        return names
    }

    /// Records in the local copy that the texts of a push are sent. Until the receipt of a text arrives, it is unknown whether the
    /// server has the text. Until then, later texts name the clock of this text in `textAfter` (clients.md, rule 3). If the
    /// `textAfter` of a text is full, this method replaces the text in the push with the text that was sent last.
    private func sendTexts(_ push: inout PushBatch) throws {
        for index in push.parts.indices {
            guard let edit = push.parts[index].edits[AttributeName.text], let descent = edit.descent,
                !descent.after.contains(edit.clock)
            else { continue }
            var sent = edit
            if let last = descent.last {
                sent.value = last.value
                sent.clock = last.clock
                sent.descent?.after = last.after
                sent.descent?.last = nil
            } else {
                var stored = edit
                sent.descent?.after.append(edit.clock)
                stored.descent = sent.descent
                if let after = sent.descent?.after, after.count >= Limits.textAfter {
                    stored.descent?.last = LocalEdit.Sent(value: edit.value, clock: edit.clock, after: after)
                }
                let part = push.parts[index]
                if var object = try object(part.id, type: part.type) {
                    object.edits[AttributeName.text] = stored
                    try save(object)
                }
            }
            push.parts[index].edits[AttributeName.text] = sent
        }
    }

    /// Returns the deletions that are due, including deletions that an earlier push sent and whose receipt has not arrived. Marks
    /// them as being sent, and discards the unsent edits of their objects.
    private func takeDeletions() throws -> [LocalDeletion] {
        try deletions().filter { $0.isDue(at: now) }.map { deletion in
            guard deletion.heldUntil != nil else { return deletion }
            var due = deletion
            due.heldUntil = nil
            try save(due)
            try discardEdits(of: due.deleted.uniqueID)
            return due
        }
    }

    /// Discards the unsent edits of an object. Removes the object if the server has no values of it.
    func discardEdits(of id: UniqueID) throws {
        guard var object = try object(id), object.isPending else { return }
        object.made = nil
        object.edits = [:]
        if object.registers.isEmpty && object.fixed.isEmpty { try remove(object) } else { try save(object) }
    }
}

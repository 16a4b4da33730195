internal import HesperModel

/// The contents of one push (protocol.md, Sync).
package struct PushBatch: Sendable, Equatable {
    /// The data of one object that a push sends.
    package struct Part: Sendable, Equatable {
        var id: UniqueID
        var type: String
        /// The fields of the object that are set once. Present only if the object is new, or if these fields are resent to a
        /// restored server.
        var made: LocalObject.Made?
        var edits: [String: LocalEdit]

        /// The estimated size of the part in a push.
        var byteCount: Int { 200 + edits.reduce(0) { $0 + 100 + 2 * $1.value.value.byteCount } }

        /// The part with as many of its texts as fit into one push, but at least one. An object may have several texts, which are
        /// too large for one push if each has the maximum size.
        var fitting: Part {
            let texts = edits.keys.filter(AttributeName.isText).sorted()
            guard texts.count > 1 else { return self }
            var part = self
            var size = 0
            for (index, text) in texts.enumerated() {
                size += edits[text]?.value.byteCount ?? 0
                if index > 0, size > PushBatch.textByteLimit { part.edits[text] = nil }
            }
            return part
        }

        /// The JSON members with the versions from which each text of the part was edited. For an app's object, which may have several
        /// texts, the value of each member is an object with the names of the texts as keys.
        /// - Parameter withBases: whether to send the contents of these versions, and not only their clocks.
        fileprivate func descent(withBases: Bool) -> [(String, JSON?)] {
            var bases: [(String, JSON?)] = []
            var values: [(String, JSON?)] = []
            var after: [(String, JSON?)] = []
            for (attribute, edit) in edits.sorted(by: { $0.key < $1.key }) where AttributeName.isText(attribute) {
                guard let descent = edit.descent else { continue }
                let name = AttributeName.split(attribute).key
                if let base = descent.base {
                    bases.append((name ?? "textBase", .string(base.clock.description)))
                    // A text that is resent to a restored server has itself as its base, so its value is not sent twice.
                    if base.clock != edit.clock, withBases || descent.isMoved {
                        values.append((name ?? "textBaseValue", .string(base.value)))
                    }
                }
                after.append((name ?? "textAfter", JSON(clocks: descent.after.filter { $0 != edit.clock })))
            }
            if type == TypeName.note { return bases + values + after }
            let sections = [("textBases", bases), ("textBaseValues", values), ("textsAfter", after)]
            return sections.filter { !$0.1.isEmpty }.map { ($0.0, JSON(members: $0.1)) }
        }
    }

    var parts: [Part] = []
    var deletions: [LocalDeletion] = []
    /// Whether the push resends data that a restored server lacks.
    var isRelay = false
    /// This device's time when the push was sent. Nil for an event, which is processed as the response to an empty push.
    var sent: Timestamp?

    package var isEmpty: Bool { parts.isEmpty && deletions.isEmpty }
    var count: Int { parts.count + deletions.count }

    /// The maximum number of objects and deletions in a push. Servers accept more.
    static let objectLimit = 1_500
    /// The maximum estimated size of a push, in bytes. Servers accept more.
    private static let byteLimit = 4 << 20
    /// The maximum total size of an object's texts in a push, in bytes of UTF-8. JSON may need six bytes for one byte of a text,
    /// and servers accept requests of 8 MiB.
    private static let textByteLimit = 1 << 20

    /// Adds a part unless the push is full. An empty push accepts a part of any size.
    /// - Parameters:
    ///   - size: the estimated size of the push. The estimated size of the part is added to it.
    ///   - limit: the maximum number of objects and deletions.
    /// - Returns: whether the part was added.
    mutating func add(_ part: Part, size: inout Int, limit: Int) -> Bool {
        size += part.byteCount
        guard isEmpty || (count < limit && size <= PushBatch.byteLimit) else { return false }
        parts.append(part)
        return true
    }

    /// The push in JSON, as the member `changes` of the request.
    /// - Parameter withBases: whether to send the contents of the bases in addition to their clocks. This is necessary if the
    ///   server may lack the bases.
    func changes(withBases: Bool) -> JSON {
        var sections: [String: [JSON]] = [:]
        for part in parts {
            let change = LocalObject.change(
                id: part.id, type: part.type, fixed: part.made?.fixed ?? [:], cells: part.edits.mapValues(\.cell))
            sections[TypeName.section(of: part.type), default: []].append(
                change.adding(part.descent(withBases: withBases)))
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
    /// The next push of unsent changes: DeletedObjects, tags, attachments, then all other objects (clients.md, rule 10). The
    /// following changes are left out:
    /// - changes that are held because they exceeded the quota
    /// - attachments whose bytes are not uploaded yet
    /// - edits that add such an attachment to an object
    /// - fields that need a feature that the server lacks
    func nextPush(limit: Int) throws -> PushBatch {
        var push = PushBatch()
        let features = try sync.features ?? []
        push.deletions = Array(try takeDeletions().prefix(limit)).map { deletion in
            var deletion = deletion
            // Without `object-texts`, the server rejects a deletion of an app's object that states which texts the user had seen.
            if deletion.deleted.objectType != .note, !features.contains("object-texts") { deletion.seenTexts = nil }
            return deletion
        }
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
                let edits = object.edits.filter { attribute, edit in
                    if edit.isHeld { return false }
                    if let feature = AttributeName.feature(of: attribute), !features.contains(feature) { return false }
                    if uploading.isEmpty { return true }
                    return AttributeName.heldAttachment(attribute, edit.value).map { !uploading.contains($0) } ?? true
                }
                guard object.made != nil || !edits.isEmpty else { return true }
                let part = PushBatch.Part(id: object.id, type: type, made: object.made, edits: edits).fitting
                isFull = !push.add(part, size: &size, limit: limit)
                return !isFull
            }
            if isFull { break }
        }
        try sendTexts(&push)
        return push
    }

    /// The features that unsent edits need and that the server is not known to have.
    func missingFeatures() throws -> [String] {
        let lacking = try ServerInfo.optionalFeatures.subtracting(sync.features ?? [])
        guard !lacking.isEmpty else { return [] }
        var missing: Set<String> = []
        for type in try types where TypeName.section(of: type) == "objects" {
            let sql = """
                SELECT DISTINCT edit.key FROM \(LocalDatabase.table(type)), json_each(pending, '$.edits') edit
                WHERE pending IS NOT NULL AND (edit.key LIKE 'texts.%' OR edit.key LIKE 'files.%')
                """
            let attributes = try String.fetchAll(database.cachedStatement(sql: sql))
            missing.formUnion(attributes.compactMap(AttributeName.feature(of:)))
        }
        return missing.intersection(lacking).sorted()
    }

    /// Whether the server must be asked for its features before the next push. This is the case if unsent edits need a feature that
    /// the server is not known to have. It is also the case if an app's object was deleted and the features are unknown.
    func mustAskForFeatures() throws -> Bool {
        if try sync.features == nil, try deletions().contains(where: { $0.deleted.objectType.isAppDefined }) {
            return true
        }
        return try !missingFeatures().isEmpty
    }

    /// The attachments whose bytes are not uploaded yet.
    private func attachmentsToUpload() throws -> Set<UniqueID> {
        guard try types.contains(TypeName.attachment) else { return [] }
        var ids: Set<UniqueID> = []
        try forEachPending(TypeName.attachment) { attachment in
            if attachment.made?.needsBytes == true { ids.insert(attachment.id) }
            return true
        }
        return ids
    }

    /// Records in the local copy that the texts of a push are sent. Until the receipt of a text arrives, it is unknown whether the
    /// server has the text, so later texts list its clock in `textAfter` (clients.md, rule 3). If this list has its maximum length,
    /// the push contains the text that was sent last instead of the new one.
    private func sendTexts(_ push: inout PushBatch) throws {
        for index in push.parts.indices {
            for attribute in push.parts[index].edits.keys.filter(AttributeName.isText) {
                try sendText(attribute, of: &push.parts[index])
            }
        }
    }

    private func sendText(_ attribute: String, of part: inout PushBatch.Part) throws {
        guard let edit = part.edits[attribute], let descent = edit.descent, !descent.after.contains(edit.clock) else {
            return
        }
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
            if var object = try object(part.id, type: part.type) {
                object.edits[attribute] = stored
                try save(object)
            }
        }
        part.edits[attribute] = sent
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

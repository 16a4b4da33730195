@testable import HesperModel

/// The sync of a device: it sends a push and applies the response.
extension ModelDevice {
    /// One sync request. If the response is lost, the device does not process it.
    mutating func sync(_ server: inout ModelServer, responseIsLost: Bool = false) throws {
        server.now = now
        if let token, server.expires(token) { try startOver(server) }
        let push = send()
        guard let response = try server.sync(push, by: node, since: token), !responseIsLost else { return }
        process(response, to: push)
    }

    /// The next push. Records its texts as sent.
    mutating func send() -> Push {
        for (key, edit) in unsent where key.attribute == .text {
            guard let sent = unanswered[key.object] else {
                unanswered[key.object] = [edit]
                continue
            }
            if sent.count < Limits.textAfter, !sent.contains(where: { $0.clock == edit.clock }) {
                unanswered[key.object]?.append(edit)
            }
        }
        return push()
    }

    /// All unsent changes: DeletedObjects first, then objects with their edits without clocks, then registers.
    func push() -> Push {
        var push = Push(deletions.values.map { .deletion($0) } + givenBack)
        let ids = Set(unsent.keys.map(\.object)).union(created.keys)
        for id in ids.sorted() {
            guard let section = created[id]?.section ?? copy[id]?.section else { continue }
            var change = Change(uniqueID: id, section: section, edits: created[id]?.edits ?? [])
            for (key, edit) in unsent where key.object == id {
                guard key.attribute == .text else {
                    change.edits.append(Edit(key.attribute, edit.value, at: edit.clock))
                    continue
                }
                // If the maximum number of texts is without a response, the last of them is sent again.
                let sent = unanswered[id] ?? []
                let isNamed = sent.contains { $0.clock == edit.clock } || sent.count < Limits.textAfter
                guard let text = isNamed ? edit : sent.last else { continue }
                change.edits.append(Edit(.text, text.value, at: text.clock))
                change.ancestries[.text] = TextAncestry(
                    base: text.base, baseValue: startedOver || text.isMoved ? text.baseValue : nil,
                    after: sent.map(\.clock).filter { $0 != text.clock })
            }
            push.elements.append(.change(change))
        }
        return push
    }

    mutating func process(_ response: ModelServer.Response, to push: Push) {
        receipts = response.receipts
        givenBack = []
        var needsNewClocks = false
        for (element, receipt) in zip(push.elements, response.receipts) {
            switch element {
            case .deletion(let deletion):
                deletions[deletion.uniqueID] = nil
                if let problem = receipt.problem { rejections.append(problem) } else { receive(deletion) }
            case .change(let change):
                if acknowledge(change, receipt) { needsNewClocks = true }
            case .rejected: break
            }
        }
        for object in response.objects where deleted[object.id] == nil {
            receive(object.body, object.id, object.section)
        }
        for object in response.deleted { receive(object) }
        token = response.token
        startedOver = false
        digestOfServer = response.digest
        offset = response.now.milliseconds - (now.milliseconds + clockError)
        if needsNewClocks { setNewClocks(after: response.now) }
    }

    /// Moves the pushed edits into the copy. Edits made since remain unsent.
    /// - Returns: whether a clock was rejected, so that all unsent edits need new clocks.
    private mutating func acknowledge(_ change: Change, _ receipt: Receipt) -> Bool {
        let id = change.uniqueID
        var needsNewClocks = false
        var entity = copy[id] ?? change.section.empty(id)
        for edit in change.edits {
            let key = Key(object: id, attribute: edit.attribute)
            let field = receipt.fields[edit.attribute.description]
            if let problem = field?.problem ?? receipt.problem {
                if problem.slug == .clockAhead || problem.slug == .clockReused {
                    needsNewClocks = true
                    continue
                }
                rejections.append(problem)
                // If the edit was given back to a restored server, the copy contains it.
                entity = entity.without(edit)
            } else if field?.outcome == .deleted {
                if let sent = unanswered[id]?.last(where: { $0.clock == edit.clock }) { orphans[id] = sent }
            } else {
                entity.fold(edit)
            }
            if edit.attribute == .text, field?.outcome != .deleted { confirmText(change, edit) }
            if unsent[key]?.clock == edit.clock { unsent[key] = nil }
        }
        // A tag whose fields all need new clocks must still be created.
        if !needsNewClocks || entity != change.section.empty(id) { created[id] = nil }
        if receipt.status != .deleted, deleted[id] == nil, entity != change.section.empty(id) { copy[id] = entity }
        return needsNewClocks
    }

    /// The server has a text and the texts that it named. Later typing descends from that text.
    private mutating func confirmText(_ change: Change, _ edit: Edit) {
        let ancestry = change.ancestries[.text]
        guard let clock = edit.clock, ancestry?.base != clock else { return }
        let named = Set([clock] + (ancestry?.after ?? []))
        unanswered[change.uniqueID]?.removeAll { named.contains($0.clock) }
        if unanswered[change.uniqueID]?.isEmpty == true { unanswered[change.uniqueID] = nil }
        let key = Key(object: change.uniqueID, attribute: .text)
        if unsent[key] != nil, unsent[key]?.clock != clock {
            unsent[key]?.base = clock
            if case .string(let text)? = edit.value { unsent[key]?.baseValue = text }
        }
    }

    /// The greater clock wins, also over unsent edits. Only ``text(_:)`` shows unsent text unmerged.
    private mutating func receive(_ body: [UInt8], _ id: UniqueID, _ section: Section) {
        var entity = copy[id] ?? section.empty(id)
        for edit in ModelDevice.edits(in: body, id, section) {
            entity.fold(edit)
            if let clock = edit.clock { source.observe(clock) }
        }
        copy[id] = entity
    }

    private mutating func receive(_ deletion: Deletion) {
        receive(
            DeletedObject(
                uniqueID: deletion.uniqueID, objectType: deletion.objectType, mergedInto: deletion.mergedInto,
                rescuedInto: deletion.rescuedInto, deletionDate: deletion.deletionDate ?? now))
    }

    private mutating func receive(_ object: DeletedObject) {
        let id = object.uniqueID
        let orphan = unsent[Key(object: id, attribute: .text)] ?? orphans.removeValue(forKey: id)
        let (typed, sent) = (typed[id], unanswered[id])
        let current = copy.removeValue(forKey: id)
        forget(id)
        if deleted[id]?.fold(object) == nil { deleted[id] = object }
        guard object.objectType == .note else { return }
        if let note = deleted[id]?.rescuedInto {
            if let orphan { move(orphan, to: note, after: sent ?? []) }
        } else if case .string(let words)? = orphan?.value {
            rescue(words, from: id, current)
        } else if let typed {
            rescue(typed, from: id, current)
        }
    }

    /// Moves words that the server did not have when it created the new note from the others.
    private mutating func move(_ text: Unsent, to note: UniqueID, after sent: [Unsent]) {
        unanswered[note] = sent.filter { $0.clock != text.clock }
        var text = text
        text.clock = tick()
        text.isMoved = true
        unsent[Key(object: note, attribute: .text)] = text
    }

    /// Moves the words of a deleted note to a new note. Two devices that rescue the same words use the same ID.
    private mutating func rescue(_ words: String, from id: UniqueID, _ current: Entity?) {
        let rescued = UniqueID.derived(from: words, in: id)
        guard deleted[rescued] == nil, entity(rescued) == nil else { return }
        var date: Timestamp?
        var attachments: [UniqueID] = []
        if case .note(let note)? = current {
            date = note.creationDate
            attachments = note.attachments.raw
        }
        makeNote(words, rescued, created: date)
        for attachment in attachments { attach(attachment, to: rescued) }
    }

    /// Resets the clock to the greatest one that the server accepted, and sets new clocks for the unsent edits in their order.
    private mutating func setNewClocks(after now: Timestamp) {
        source = ClockSource(node: node)
        for entity in copy.values { if let clock = entity.lastClock { source.observe(clock) } }
        for (key, _) in unsent.sorted(by: { $0.value.clock < $1.value.clock }) {
            let clock = tick()
            unsent[key]?.clock = clock
        }
    }

    /// The edits in an object's body.
    static func edits(in body: [UInt8], _ id: UniqueID, _ section: Section) -> [Edit] {
        guard case .object(let object)? = try? JSONReader.read(body) else { return [] }
        return PushReader.change(object, id: id, in: section, at: "").edits
    }
}

extension Entity {
    /// The entity without one edit that the server rejected: a rejected field is removed from the copy (clients.md).
    fileprivate func without(_ rejected: Edit) -> Entity {
        guard let clock = rejected.clock, register(rejected.attribute)?.clock == clock else { return self }
        var entity = section.empty(uniqueID)
        for edit in ModelDevice.edits(in: body, uniqueID, section) where edit.attribute != rejected.attribute {
            entity.fold(edit)
        }
        return entity
    }
}

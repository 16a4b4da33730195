@testable import HesperModel

/// How a device syncs: one push, one answer, folded in.
extension ModelDevice {
    /// One call of sync; without an answer if it is lost on its way back.
    mutating func sync(_ server: inout ModelServer, answerIsLost: Bool = false) throws {
        server.now = now
        if let token, server.expires(token) { try startOver(server) }
        let push = send()
        guard let answer = try server.sync(push, by: node, since: token), !answerIsLost else { return }
        take(answer, to: push)
    }

    /// The next push, on its way: its texts are unanswered from now on.
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

    /// All that is unsent: DeletedObjects first, then objects with what is set once, then registers.
    func push() -> Push {
        var push = Push(deletions.values.map { .deletion($0) } + relays)
        let ids = Set(unsent.keys.map(\.object)).union(made.keys)
        for id in ids.sorted() {
            guard let section = made[id]?.section ?? copy[id]?.section else { continue }
            var change = Change(uniqueID: id, section: section, edits: made[id]?.edits ?? [])
            for (key, edit) in unsent where key.object == id {
                guard key.attribute == .text else {
                    change.edits.append(Edit(key.attribute, edit.value, at: edit.clock))
                    continue
                }
                // With as many unanswered as a push may name, the last of them goes again.
                let sent = unanswered[id] ?? []
                let isNamed = sent.contains { $0.clock == edit.clock } || sent.count < Limits.textAfter
                guard let text = isNamed ? edit : sent.last else { continue }
                change.edits.append(Edit(.text, text.value, at: text.clock))
                change.textBase = text.base
                if startedOver || text.isMoved { change.textBaseValue = text.baseValue }
                change.textAfter = sent.map(\.clock).filter { $0 != text.clock }
            }
            push.elements.append(.change(change))
        }
        return push
    }

    mutating func take(_ answer: ModelServer.Answer, to push: Push) {
        receipts = answer.receipts
        relays = []
        var mustStampAgain = false
        for (element, receipt) in zip(push.elements, answer.receipts) {
            switch element {
            case .deletion(let deletion):
                deletions[deletion.uniqueID] = nil
                if let problem = receipt.problem { shelf.append(problem) } else { receive(deletion) }
            case .change(let change):
                if acknowledge(change, receipt) { mustStampAgain = true }
            case .refused: break
            }
        }
        for object in answer.objects where deleted[object.id] == nil { receive(object.body, object.id, object.section) }
        for object in answer.deleted { receive(object) }
        token = answer.token
        startedOver = false
        digestOfServer = answer.digest
        offset = answer.now.milliseconds - (now.milliseconds + clockError)
        if mustStampAgain { stampAgain(after: answer.now) }
    }

    /// Moves what was pushed into the copy. What was typed since stays unsent.
    /// - Returns: whether a clock was refused, so that everything unsent needs another.
    private mutating func acknowledge(_ change: Change, _ receipt: Receipt) -> Bool {
        let id = change.uniqueID
        var mustStampAgain = false
        var entity = copy[id] ?? change.section.empty(id)
        for edit in change.edits {
            let key = Key(object: id, attribute: edit.attribute)
            let field = receipt.fields[edit.attribute.description]
            if let problem = field?.problem ?? receipt.problem {
                if problem.slug == .clockAhead || problem.slug == .clockReused {
                    mustStampAgain = true
                    continue
                }
                shelf.append(problem)
                // Of what is given back to a restored server, the copy has it already.
                entity = entity.without(edit)
            } else if field?.outcome == .deleted {
                if let sent = unanswered[id]?.last(where: { $0.clock == edit.clock }) { orphans[id] = sent }
            } else {
                entity.fold(edit)
            }
            if edit.attribute == .text, field?.outcome != .deleted { answer(change, edit) }
            if unsent[key]?.clock == edit.clock { unsent[key] = nil }
        }
        // A tag of which every field has to be stamped again is still to be made.
        if !mustStampAgain || entity != change.section.empty(id) { made[id] = nil }
        if receipt.status != .deleted, deleted[id] == nil, entity != change.section.empty(id) { copy[id] = entity }
        return mustStampAgain
    }

    /// The server knows a text and all that it named. What was typed on meanwhile descends from it.
    private mutating func answer(_ change: Change, _ edit: Edit) {
        guard let clock = edit.clock, change.textBase != clock else { return }
        let named = Set([clock] + (change.textAfter ?? []))
        unanswered[change.uniqueID]?.removeAll { named.contains($0.clock) }
        if unanswered[change.uniqueID]?.isEmpty == true { unanswered[change.uniqueID] = nil }
        let key = Key(object: change.uniqueID, attribute: .text)
        if unsent[key] != nil, unsent[key]?.clock != clock {
            unsent[key]?.base = clock
            if case .string(let text)? = edit.value { unsent[key]?.baseValue = text }
        }
    }

    /// The greater clock stands, also before what is unsent; `text(_:)` alone leaves the unsent alone.
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
        let standing = copy.removeValue(forKey: id)
        forget(id)
        if deleted[id]?.fold(object) == nil { deleted[id] = object }
        guard object.objectType == .note else { return }
        if let note = deleted[id]?.rescuedInto {
            if let orphan { move(orphan, to: note, after: sent ?? []) }
        } else if case .string(let words)? = orphan?.value {
            rescue(words, from: id, standing)
        } else if let typed {
            rescue(typed, from: id, standing)
        }
    }

    /// Words that the server had not got when it made a new note of the others.
    private mutating func move(_ text: Unsent, to note: UniqueID, after sent: [Unsent]) {
        unanswered[note] = sent.filter { $0.clock != text.clock }
        var text = text
        text.clock = tick()
        text.isMoved = true
        unsent[Key(object: note, attribute: .text)] = text
    }

    /// Words of a deleted note go into a new one, whose ID two devices that rescue the same words agree on.
    private mutating func rescue(_ words: String, from id: UniqueID, _ standing: Entity?) {
        let rescued = UniqueID.derived(from: words, in: id)
        guard deleted[rescued] == nil, entity(rescued) == nil else { return }
        var created: Timestamp?
        var attachments: [UniqueID] = []
        if case .note(let note)? = standing {
            created = note.creationDate
            attachments = note.attachments.raw
        }
        makeNote(words, rescued, created: created)
        for attachment in attachments { attach(attachment, to: rescued) }
    }

    /// Sets the clock back to what the server accepts, and stamps what is unsent again in its order.
    private mutating func stampAgain(after now: Timestamp) {
        source = ClockSource(node: node)
        for entity in copy.values { if let clock = entity.lastClock { source.observe(clock) } }
        for (key, _) in unsent.sorted(by: { $0.value.clock < $1.value.clock }) {
            let clock = tick()
            unsent[key]?.clock = clock
        }
    }

    /// What is set, by a body that travelled.
    static func edits(in body: [UInt8], _ id: UniqueID, _ section: Section) -> [Edit] {
        guard case .object(let object)? = try? JSONReader.read(body) else { return [] }
        return PushReader.change(object, id: id, in: section, at: "").edits
    }
}

extension Entity {
    /// The same without one edit that the server refused: a refused field leaves the copy (clients.md).
    fileprivate func without(_ refused: Edit) -> Entity {
        guard let clock = refused.clock, register(refused.attribute)?.clock == clock else { return self }
        var entity = section.empty(uniqueID)
        for edit in ModelDevice.edits(in: body, uniqueID, section) where edit.attribute != refused.attribute {
            entity.fold(edit)
        }
        return entity
    }
}

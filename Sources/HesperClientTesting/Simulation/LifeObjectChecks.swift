internal import HesperClient
internal import HesperModel

/// Checks of counters, sets, tags, attachments, files and requests.
extension Life {
    /// Checks that a counter is the sum of all counts, and that a set has the members that were added and not removed.
    func checkObjects(of device: SimulatedDevice, _ scope: MemoryScope) throws {
        // These checks leave out the counts and labels of some devices. The server may not have received the counts and labels of
        // lost devices. Devices that share a node, because of a copied database file, also share the node's register of a counter.
        let unsure = ledger.lostDevices.union(ledger.twins)
        try device.database.read { transaction in
            let shelved = Set(try transaction.shelf().map(\.id))
            for id in try transaction.ids(Recipe.objectType, onlyShown: true) where !shelved.contains(id) {
                guard let recipe = try transaction.app.get(ObjectID<Recipe>(id)) else { continue }
                let count = ledger.counts[id] ?? 0
                if ledger.countedBy[id]?.isDisjoint(with: unsure) ?? true, recipe.cooked.value != count {
                    fail("\(device.name) shows the count \(recipe.cooked) of \(id), not \(count)")
                }
                guard ledger.labeledBy[id]?.isDisjoint(with: unsure) ?? true else { continue }
                let missing = (ledger.labels[id] ?? []).subtracting(ledger.removedLabels[id] ?? [])
                    .subtracting(recipe.labels)
                if !missing.isEmpty { fail("\(device.name) lacks \(missing.sorted()) in \(id)") }
            }
        }
    }

    /// Checks that a device has the bytes of each attachment, and no other bytes.
    func checkFiles(of device: SimulatedDevice, _ scope: MemoryScope) throws {
        try device.database.read { transaction in
            var needed: Set<UniqueID> = []
            for id in scope.states.keys.sorted() {
                guard case .entity(.attachment(let attachment), .some)? = scope.states[id] else { continue }
                guard let file = try transaction.file(of: id), device.files.file(file)?.isFinished == true else {
                    fail("\(device.name) lacks the bytes of \(id)")
                    continue
                }
                needed.insert(file)
                let data = try device.files.data(of: file)
                if attachment[.sha256] != .string(data.sha256) {
                    fail("the bytes of \(id) on \(device.name) are not those that were attached")
                }
            }
            // If a change of an attachment was rejected, the bytes of the attachment remain until the change is dismissed.
            let shelved = Set(try transaction.shelf().map(\.id))
            let others = device.files.list().keys.filter { !needed.contains($0) && !shelved.contains($0) }.sorted()
            if !others.isEmpty { fail("\(device.name) has files that no attachment needs: \(others)") }
        }
    }

    /// Checks that no two tags have the same name, and that an attachment is in one note or recipe only.
    func checkTagsAndMembers(_ scope: MemoryScope) throws {
        var names: [String: UniqueID] = [:]
        var holders: [UniqueID: UniqueID] = [:]
        var contents: [UniqueID: Set<String>] = [:]
        for id in scope.states.keys.sorted() {
            guard case .entity(let entity, .some)? = scope.states[id] else { continue }
            if case .tag(let tag) = entity {
                if let other = names.updateValue(id, forKey: TagName.fold(tag.name)) {
                    fail("the tags \(other) and \(id) have the name \(tag.name)")
                }
            }
            for member in entity.heldAttachments.sorted() {
                guard case .entity(.attachment(let attachment), .some)? = scope.states[member] else { continue }
                if let other = holders.updateValue(id, forKey: member) {
                    fail("the objects \(other) and \(id) have the attachment \(member)")
                }
                if case .string(let hash)? = attachment[.sha256] { contents[id, default: []].insert(hash) }
            }
        }
        try checkAttached(scope, contents)
    }

    /// Checks that a note has the attachments that somebody added and nobody removed. Attachments that the server rejected are left
    /// out, because the app shows the rejected changes to the user.
    /// - Parameter contents: for each note, the hashes of its attachments.
    private func checkAttached(_ scope: MemoryScope, _ contents: [UniqueID: Set<String>]) throws {
        let shelved = try shelvedAttributes()
        for (id, (note, device)) in ledger.attached.sorted(by: { $0.key < $1.key }) {
            guard case .entity(.note, .some)? = scope.states[note], !ledger.lostDevices.contains(device),
                let bytes = ledger.files[id], shelved[note]?.contains(AttributeName.attachment(id)) != true
            else { continue }
            let hash = MemoryFiles.File(bytes).data.sha256
            if contents[note]?.contains(hash) != true { fail("\(note) lacks the attachment \(id) of \(device)") }
        }
    }

    /// Checks the photo and the scan of each recipe. If somebody changed such a property, its value must be an attachment to which
    /// somebody set it, or nil if somebody set it to nil. Properties that the server rejected are left out, because the app shows
    /// the rejected changes to the user. If a device was revoked, nothing is checked: a property may then have an earlier value,
    /// and the attachment of that value may have been deleted.
    func checkRecipeFiles(_ scope: MemoryScope) throws {
        let shelved = try shelvedAttributes()
        for (id, properties) in ledger.recipeFiles.sorted(by: { $0.key < $1.key }) {
            guard case .entity(.object(let recipe), .some)? = scope.states[id] else { continue }
            for property in FileProperty.allCases {
                let attribute = property.attribute
                guard let actions = properties[attribute], ledger.lostDevices.isEmpty,
                    shelved[id]?.contains(attribute.description) != true
                else { continue }
                let name = "\(attribute.description) of \(id)"
                guard let file = Entity.object(recipe).register(attribute)?.value.json.id else {
                    if !actions.isCleared { fail("\(name) was set, but is nil") }
                    continue
                }
                if case .entity(.attachment(let attachment), .some)? = scope.states[file] {
                    let hash = attachment[.sha256]?.json.string ?? ""
                    if !actions.hashes.contains(hash) {
                        fail("\(name) is \(file), but nobody set it to that attachment")
                    }
                } else if !ledger.movedFiles.contains(file), shelved[file] == nil {
                    fail("\(name) is \(file), which was deleted")
                }
            }
        }
    }

    /// The attributes of rejected changes, by object. For an object that was rejected as a whole, the set is empty.
    private func shelvedAttributes() throws -> [UniqueID: Set<String>] {
        var shelved: [UniqueID: Set<String>] = [:]
        for device in devices where !device.isLost {
            for change in try device.database.read({ try $0.shelf() }) {
                shelved[change.id, default: []].formUnion([change.attribute].compactMap(\.self))
            }
        }
        return shelved
    }

    /// Checks that a settled device sends nothing and receives nothing when it syncs.
    func checkQuiet(_ index: Int) throws {
        let device = devices[index]
        device.add(SyncInput.syncNow)
        let effects = try device.stepSync()
        guard case .send(_, let request)? = effects.first(where: { if case .send = $0 { true } else { false } }) else {
            return fail("\(device.name) does not sync when asked to: \(effects)")
        }
        if !Life.changes(in: request).isEmpty {
            fail("\(device.name) is settled, but sends \(Life.changes(in: request))")
        }
        let page = try JSONReader.read(server.core.respond(to: request, at: timestamp).body)
        if page["changes"]?.members.contains(where: { !$0.value.elements.isEmpty }) ?? true {
            fail("\(device.name) is settled, but receives \(page.text)")
        }
    }

    /// Checks that a device does not send the same changes again after it received the response to them. Only changes that wait for
    /// space are sent again, after a delay or when somebody asks for it (clients.md, rules 9 and 14). The delay is also over if the
    /// device's clock was set forward.
    func checkPush(_ request: ServerRequest, of device: SimulatedDevice) {
        device.pushed = Life.changes(in: request)
        let isAsked = device.askedAt >= device.answeredSentAt
        let isSoon =
            now < device.answeredAt + 25_000 && device.environment.now < device.answeredAtClock.adding(25_000)
        if !device.pushed.isEmpty, device.pushed == device.answered, !isAsked, isSoon {
            fail("\(device.name) sends changes again that were answered: \(device.pushed)")
        }
        device.pushedAt = device.environment.now
    }

    /// The end of a request's body, beginning with the value of its last member, `changes`; empty if the body has no such member.
    private static func changes(in request: ServerRequest) -> String {
        let body = String(decoding: request.body, as: UTF8.self)
        guard let start = body.range(of: "\"changes\":") else { return "" }
        return String(body[start.upperBound...])
    }
}

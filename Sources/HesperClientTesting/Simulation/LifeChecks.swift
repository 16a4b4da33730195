internal import HesperClient
internal import HesperModel

/// The checks of every simulated life.
extension Life {
    /// Checks the devices and the server at the end of a life.
    func check() throws {
        let scope = server.core.accounts[0].scope
        for device in devices where !device.isLost {
            try checkCopy(of: device, scope)
            try checkObjects(of: device, scope)
            try checkFiles(of: device, scope)
        }
        try checkWords(scope)
        checkDeletions(scope)
        checkRegisters(scope)
        try checkTagsAndMembers(scope)
        try checkRecipeFiles(scope)
        for index in devices.indices where failures.isEmpty && !devices[index].isLost { try checkQuiet(index) }
    }

    /// If a device reports that everything is synced, checks that the server has had every word of its texts.
    func checkStatus(of device: SimulatedDevice) throws {
        try checkVisible(on: device)
        guard !isSettling, !ledger.unknown.isEmpty, try device.saysSynced(),
            try device.database.read({ try $0.shelf() }).isEmpty
        else { return }
        for (id, words) in try device.shownWords() {
            let unknown = words.filter(ledger.unknown.contains)
            if !unknown.isEmpty {
                fail("\(device.name) reports that everything is synced, but the server never had \(unknown) of \(id)")
            }
        }
    }

    /// Checks the visible values of all attributes with unsent edits. If the attribute is a text, the app must see the unsent text.
    /// For all other attributes, the app must see the unsent value or the acknowledged value, whichever is later (clients.md,
    /// rule 3). Also checks that the local copy does not contain objects that this device knows to be deleted.
    private func checkVisible(on device: SimulatedDevice) throws {
        try device.database.read { transaction in
            for type in try transaction.types {
                try transaction.forEachPending(type) { object in
                    for (attribute, edit) in object.edits.sorted(by: { $0.key < $1.key }) {
                        let clocks = [object.registers[attribute]?.clock, edit.clock].compactMap(\.self)
                        let expected = AttributeName.isText(attribute) ? edit.clock : clocks.max()
                        if object.cell(attribute)?.clock != expected {
                            fail(
                                "\(device.name) shows the wrong \(attribute) of \(object.id); the unsent edit has the clock \(edit.clock)"
                            )
                        }
                    }
                    return true
                }
                // Only a server that was restored from a backup sends objects that this device knows to be deleted. If no backup
                // was made, this check is not necessary.
                guard !backups.isEmpty else { continue }
                for id in try transaction.ids(type) where try transaction.deleted(id) != nil {
                    fail("\(device.name) has \(id), which was deleted")
                }
            }
        }
    }

    /// Computes the digest of a device from its objects, and compares it with the stored digest.
    func checkDigest(of device: SimulatedDevice) throws {
        try device.database.read { transaction in
            var digest = Digest.zero
            for type in try transaction.types {
                for id in try transaction.ids(type) {
                    digest ^= try transaction.object(id, type: type)?.digest ?? .zero
                }
            }
            try transaction.forEachDeleted { digest ^= $0.digest }
            let kept = try transaction.sync.digest
            if kept != digest { self.fail("\(device.name) stores the digest \(kept), but its objects have \(digest)") }
        }
    }

    /// Checks that a device has the same objects as the server, register by register.
    func checkCopy(of device: SimulatedDevice, _ scope: MemoryScope) throws {
        try checkDigest(of: device)
        try device.database.read { transaction in
            var count = 0
            for id in scope.states.keys.sorted() {
                switch scope.states[id] {
                case .entity(let entity, .some)?:
                    count += 1
                    guard let object = try transaction.object(id) else {
                        self.fail("\(device.name) lacks \(id)")
                        continue
                    }
                    var registers: [String: Clock] = [:]
                    entity.forEachRegister { attribute, clock in
                        registers[attribute.description] = clock
                        let cell = object.cell(attribute.description)
                        let value = entity.register(attribute)?.value
                        let isEqual = cell?.value.json == value?.json
                        if cell?.clock != clock || !isEqual {
                            self.fail(
                                "\(device.name) has \(String(describing: cell)) as \(attribute.description) of \(id), "
                                    + "not \(String(describing: value)) at \(clock)")
                        }
                    }
                    if object.registers.count != registers.count {
                        self.fail(
                            "\(device.name) has \(object.registers.count) registers of \(id), "
                                + "the server has \(registers.count)")
                    }
                    if object.isPending { self.fail("\(device.name) has unsent edits of \(id)") }
                case .deleted(let deleted, _)?:
                    let own = try transaction.deleted(id)
                    if own?.mergedInto != deleted.mergedInto || own?.rescuedInto != deleted.rescuedInto || own == nil {
                        self.fail("\(device.name) has the DeletedObject \(String(describing: own)), not \(deleted)")
                    }
                    if try transaction.object(id) != nil { self.fail("\(device.name) shows the deleted object \(id)") }
                case .entity(_, nil)?, nil: break
                }
            }
            var own = 0
            for type in try transaction.types { own += try transaction.ids(type).count }
            if own != count { self.fail("\(device.name) has \(own) objects, the server has \(count)") }
        }
    }

    /// Checks that every word that was typed is still in a text or in a rejected change. Words that somebody removed are left out.
    /// Also checks that no text contains a word twice. The ledger lists the words that are exceptions.
    private func checkWords(_ scope: MemoryScope) throws {
        var current: Set<String> = []
        for id in scope.states.keys.sorted() {
            guard case .entity(let entity, .some)? = scope.states[id] else { continue }
            for text in entity.mergedTexts {
                let words = text.words
                let single = words.filter { !ledger.doubled.contains($0) }
                if Set(single).count != single.count { fail("a text of \(id) has a word twice: \(text)") }
                current.formUnion(words)
            }
        }
        // Words in rejected changes are not lost, because the app shows these changes to the user.
        for device in devices where !device.isLost {
            for change in try device.database.read({ try $0.shelf() }) {
                if case .string(let text)? = change.value { current.formUnion(text.words) }
            }
        }
        current.formUnion(ledger.removed)
        current.formUnion(ledger.superseded)
        current.formUnion(ledger.unseen)
        for (word, author) in ledger.authors.sorted(by: { $0.key < $1.key }) where !current.contains(word) {
            let isKnown = ledger.known.contains(word)
            if !ledger.shared.contains(word), ledger.lostDevices.contains(author) { continue }
            fail("the word \(word) of \(author) is in no text; the server has had it: \(isKnown)")
        }
    }

    /// Checks that no deleted object exists again.
    private func checkDeletions(_ scope: MemoryScope) {
        for id in ledger.dead.sorted() {
            if case .deleted? = scope.states[id] { continue }
            fail("\(id) was deleted, but exists again")
        }
    }

    /// Checks that no register has returned to an earlier clock or disappeared. Clocks of revoked nodes are not checked.
    private func checkRegisters(_ scope: MemoryScope) {
        for id in ledger.clocks.keys.sorted() {
            guard let clocks = ledger.clocks[id], case .entity(let entity, _)? = scope.states[id] else { continue }
            for (attribute, clock) in clocks.sorted(by: { $0.key.description < $1.key.description }) {
                guard !ledger.revokedNodes.contains(clock.node),
                    entity.register(attribute).map({ $0.clock < clock }) ?? true
                else { continue }
                fail("\(attribute.description) of \(id) had the clock \(clock), but now has an older one or none")
            }
        }
    }
}

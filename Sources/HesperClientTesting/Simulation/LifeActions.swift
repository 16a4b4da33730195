internal import HesperClient
internal import HesperModel

/// The actions of people on their devices, and the accidents of devices and of the server.
extension Life {
    func act(_ index: Int) throws {
        let device = devices[index]
        let notes = try device.shown(TypeName.note)
        guard let note = generator.element(of: notes), generator.isTrue(withProbability: 0.85) else {
            return try make(index)
        }
        switch generator.number(in: 0..<33) {
        case 0..<9: try write(index, note, .note)
        case 9: try openDraft(index, note, .note)
        case 10:
            try edit(index, note, TypeName.note, AttributeName.archived, .bool(generator.isTrue(withProbability: 0.5)))
        case 11:
            try edit(
                index, note, TypeName.note, AttributeName.custom("pinned"),
                .bool(generator.isTrue(withProbability: 0.5)))
        case 12, 13: try tagNote(index, note)
        case 14: try renameTag(index)
        case 15: try mergeTags(index)
        case 16, 17: try attach(index, note)
        case 18: try moveAttachment(index, note)
        case 19, 20: try delete(index, note)
        default: try changeObject(index)
        }
    }

    /// Runs a transaction of the app, and then adds the inputs of sync that a change of the local copy causes.
    func change(_ index: Int, _ body: (RecordsTransaction) throws -> Void) throws {
        try devices[index].database.write(body)
        guard isSettling || !generator.isTrue(withProbability: 0.01) else {
            note("\(devices[index].name) crashes after an edit")
            return try restart(index)
        }
        devices[index].addChange()
        try takeInputs(index)
    }

    // MARK: Making

    private func make(_ index: Int) throws {
        switch generator.number(in: 0..<10) {
        case 0..<5: try makeNote(index)
        case 5..<8: try makeTag(index)
        default: try makeObject(index)
        }
    }

    private func makeNote(_ index: Int) throws {
        let text = (0..<generator.number(in: 0..<6)).map { _ in ledger.newWord(by: devices[index].name) }
            .joined(separator: generator.isTrue(withProbability: 0.5) ? " " : "\n")
        try change(index) { transaction in
            var note = LocalObject(id: transaction.newID(), type: TypeName.note)
            note.made = LocalObject.Made(fixed: [AttributeName.creationDate: .string(transaction.now.description)])
            let values: [(String, Value)] = text.isEmpty ? [] : [(AttributeName.text, .string(text))]
            _ = try transaction.insert(note, values: values)
            self.note("\(self.devices[index].name) makes the note \(note.id) \"\(text)\"")
        }
    }

    private func makeTag(_ index: Int) throws {
        let name = "tag \(generator.number(in: 0..<8))"
        try change(index) { transaction in
            let tag = LocalObject(id: transaction.newID(), type: TypeName.tag)
            _ = try transaction.insert(tag, values: [(AttributeName.name, .string(name))])
        }
    }

    private func makeObject(_ index: Int) throws {
        let number = generator.number(in: 0..<100)
        guard generator.isTrue(withProbability: 0.7) else {
            return try change(index) { transaction in
                var board = Board()
                board.id = ObjectID(transaction.newID())
                if number > 50 { board.title = "title \(number)" }
                try transaction.app.insert(board)
            }
        }
        let device = devices[index]
        if device.hasEarlierApp {
            return try makeRecipe(index, number) { id in
                var recipe = EarlierRecipe()
                recipe.id = id
                return recipe
            }
        }
        let words = (0..<generator.number(in: 0..<4)).map { _ in ledger.newWord(by: device.name) }
        try makeRecipe(index, number) { id in
            var recipe = Recipe()
            recipe.id = id
            if !words.isEmpty { recipe.method = MergedText(words.joined(separator: "\n")) }
            self.note("\(device.name) makes the recipe \(id) \"\(recipe.method)\"")
            return recipe
        }
    }

    private func makeRecipe<R: RecipeProperties>(_ index: Int, _ number: Int, _ make: (ObjectID<R>) -> R) throws {
        try change(index) { transaction in
            var recipe = make(ObjectID(transaction.newID()))
            recipe.title = "title \(number)"
            recipe.servings.count = number
            try transaction.app.insert(recipe)
        }
    }

    // MARK: Editing

    private func edit(_ index: Int, _ id: UniqueID, _ type: String, _ attribute: String, _ value: Value) throws {
        try change(index) { transaction in
            guard var object = try transaction.object(id, type: type) else { return }
            try transaction.edit(&object, attribute, value)
            try transaction.save(object)
            // The app must see its change immediately (clients.md, rule 1).
            if try transaction.object(id, type: type)?.value(attribute)?.json != value.json {
                self.fail("\(self.devices[index].name) does not show its edit of \(attribute) of \(id)")
            }
        }
    }

    private func changeObject(_ index: Int) throws {
        if generator.isTrue(withProbability: 0.8) { try changeRecipe(index) } else { try changeBoard(index) }
    }

    private func changeRecipe(_ index: Int) throws {
        let device = devices[index]
        // Most changes concern the first two recipes, so that devices often change the same recipe at the same time.
        let recipes = try device.shown(Recipe.objectType).sorted()
        let isCommon = generator.isTrue(withProbability: 0.7)
        guard let id = generator.element(of: isCommon ? Array(recipes.prefix(2)) : recipes) else {
            return try makeObject(index)
        }
        if generator.isTrue(withProbability: 0.08) { return try delete(index, id, Recipe.objectType) }
        if device.hasEarlierApp { return try changeProperties(index, id, EarlierRecipe.self) }
        let text = generator.isTrue(withProbability: 0.8) ? TextProperty.method : .hints
        switch generator.number(in: 0..<16) {
        case 0..<8: try write(index, id, text)
        case 8: try openDraft(index, id, text)
        case 9, 10: try setFile(index, id)
        case 11: try moveFile(index, id)
        default: try changeProperties(index, id, Recipe.self)
        }
    }

    /// Changes a property that a recipe has in all versions of the app.
    private func changeProperties<R: RecipeProperties>(_ index: Int, _ id: UniqueID, _ type: R.Type) throws {
        let device = devices[index]
        let what = generator.number(in: 0..<6)
        let number = generator.number(in: 1..<9)
        try change(index) { transaction in
            let recipe = try transaction.app.update(ObjectID<R>(id)) { recipe in
                switch what {
                case 0: recipe.title = "title \(number)"
                case 1: recipe.servings.count = number
                case 2: recipe.servings.unit = "unit \(number)"
                case 3: self.ledger.insert("label \(number)", into: id, &recipe.labels, by: device.name)
                case 4: self.ledger.remove("label \(number)", from: id, &recipe.labels, by: device.name)
                default:
                    recipe.cooked += number
                    self.ledger.count(number, of: id, by: device.name)
                }
            }
            self.note("\(device.name) changes \(id): \(what), \(number), cooked \(recipe.cooked)")
        }
    }

    private func changeBoard(_ index: Int) throws {
        let device = devices[index]
        guard let id = generator.element(of: try device.shown(Board.objectType)) else { return try makeObject(index) }
        let note = generator.element(of: try device.shown(TypeName.note))
        let number = generator.number(in: 0..<5)
        try change(index) { transaction in
            try transaction.app.update(ObjectID<Board>(id)) { board in
                switch (number, note) {
                case (0, _): board.title = nil
                case (1, _), (_, nil): board.title = "title \(number)"
                case (2, let note?): board.notes.remove(ObjectID(note))
                case (_, let note?): board.notes.insert(ObjectID(note))
                }
            }
        }
    }

    /// Opens a note or a recipe in an editor, which saves it later as a whole.
    private func openDraft(_ index: Int, _ id: UniqueID, _ property: TextProperty) throws {
        let device = devices[index]
        guard device.draft == nil else { return try write(index, id, property) }
        device.draft = try device.database.read { transaction in
            switch property {
            case .note: try transaction.app.get(ObjectID<HesperClient.Note>(id)).map(Draft.note)
            case .method, .hints: try transaction.app.get(ObjectID<Recipe>(id)).map { .recipe($0, property) }
            }
        }
        schedule(.saveDraft(index, run: device.run), in: 1_000..<20_000)
    }

    /// Saves the draft that somebody has been editing. The stored object may have changed since it was read.
    func saveDraft(_ index: Int) throws {
        let device = devices[index]
        guard var draft = device.draft else { return }
        device.draft = nil
        guard try device.shown(draft.property.type).contains(draft.id) else { return }
        // The draft adds a whole line. A merge never replaces it, so the new word must be in the saved text.
        let word = ledger.newWord(by: device.name)
        let isAtEnd = generator.isTrue(withProbability: 0.5)
        draft.text = isAtEnd ? draft.text + "\n" + word : word + "\n" + draft.text
        try change(index) { transaction in
            let saved = try draft.save(transaction.app)
            self.note("\(device.name) saves its draft of \(draft.id) with \(word): \"\(saved.text)\"")
            if !saved.text.words.contains(word) {
                self.fail("\(device.name) does not show \(word) in \(draft.id)")
            }
        }
    }

    private func write(_ index: Int, _ id: UniqueID, _ property: TextProperty) throws {
        let device = devices[index]
        let text = try device.text(id, property) ?? ""
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.split(separator: " ").map(String.init)
        }
        let line = generator.number(in: 0..<max(lines.count, 1))
        switch generator.number(in: 0..<10) {
        case 0..<3: lines.append([ledger.newWord(by: device.name)])
        case 3..<6 where !lines.isEmpty:
            lines[line].insert(
                ledger.newWord(by: device.name), at: generator.number(in: 0..<lines[line].count + 1))
        case 6 where lines.count > 1:
            ledger.remove(lines.remove(at: line))
        case 7 where !lines.isEmpty && !lines[line].isEmpty:
            let word = generator.number(in: 0..<lines[line].count)
            ledger.remove([lines[line][word]])
            lines[line][word] = ledger.newWord(by: device.name)
        case 8 where !lines.isEmpty && !lines[line].isEmpty:
            ledger.remove([lines[line].remove(at: generator.number(in: 0..<lines[line].count))])
        default: lines.insert([ledger.newWord(by: device.name)], at: 0)
        }
        let written = lines.map { $0.joined(separator: " ") }.joined(separator: "\n")
        note("\(device.name) writes \(id) \"\(written)\"")
        try edit(index, id, property.type, property.attribute.description, .string(written))
    }

    // MARK: Tags and deletions

    private func tagNote(_ index: Int, _ note: UniqueID) throws {
        guard let tag = generator.element(of: try devices[index].shown(TypeName.tag)) else { return try makeTag(index) }
        try edit(
            index, note, TypeName.note, AttributeName.tag(tag), .bool(generator.isTrue(withProbability: 0.75)))
    }

    private func renameTag(_ index: Int) throws {
        guard let tag = generator.element(of: try devices[index].shown(TypeName.tag)) else { return try makeTag(index) }
        if generator.isTrue(withProbability: 0.2) { return try delete(index, tag, TypeName.tag) }
        try edit(index, tag, TypeName.tag, AttributeName.name, .string("TAG \(generator.number(in: 0..<8))"))
    }

    /// Merges a random tag into the tag with the smallest ID.
    private func mergeTags(_ index: Int) throws {
        let tags = try devices[index].shown(TypeName.tag).sorted()
        guard tags.count > 1 else { return try makeTag(index) }
        let second = generator.number(in: 1..<tags.count)
        try change(index) { transaction in
            guard let tag = try transaction.object(tags[second], type: TypeName.tag) else { return }
            try transaction.delete(tag, mergedInto: tags[0], heldUntil: nil)
        }
    }

    private func delete(_ index: Int, _ id: UniqueID, _ type: String = TypeName.note) throws {
        let device = devices[index]
        ledger.remove(try device.words(of: id, type))
        let isUndone = generator.isTrue(withProbability: 0.2)
        note("\(device.name) deletes \(id)\(isUndone ? ", and undoes it" : "")")
        try change(index) { transaction in
            guard let object = try transaction.object(id, type: type) else { return }
            let heldUntil = self.generator.isTrue(withProbability: 0.5) ? transaction.now.milliseconds + 10_000 : nil
            try transaction.delete(object, heldUntil: heldUntil.map { Timestamp(clamping: $0) })
        }
        guard isUndone else { return }
        try change(index) { transaction in
            guard let deletion = try transaction.deletion(of: id), deletion.heldUntil != nil else { return }
            try transaction.removeDeletion(of: id)
        }
    }

    // MARK: Tending

    /// Signs a device in if that is necessary.
    func tend(_ index: Int) throws {
        let device = devices[index]
        guard !isOffline(index) else { return }
        let (isSignedIn, reason) = try device.database.read { (try $0.sessionToken != nil, try $0.sync.signInAgain) }
        guard !isSignedIn || reason != nil, isSettling || generator.isTrue(withProbability: 0.3) else { return }
        try signIn(index)
    }

    // MARK: Accidents

    func haveAccident() throws {
        let index = generator.number(in: 0..<devices.count)
        let device = devices[index]
        guard !device.isLost else { return }
        switch generator.number(in: 0..<17) {
        case 0..<4:
            note("\(device.name) is offline")
            device.offlineUntil = now + Int64(generator.number(in: 1_000..<120_000))
            if device.serverStream != nil {
                closeStream(index)
                schedule(.streamEnded(index, stream: device.stream, hasFailed: true), in: 1..<30_000)
            }
        case 4, 5:
            note("\(device.name) crashes")
            try restart(index)
        case 6:
            if generator.isTrue(withProbability: 0.3) {
                server.core.clockError += Int64(generator.number(in: -250_000..<250_000))
                note("the clock of the server is off by \(server.core.clockError) ms")
            } else {
                setWrongClock(device)
            }
        case 7:
            backups.append(server.core.backUp())
            note("backup \(backups.count)")
        case 8: try restoreServer()
        case 9:
            note("everyone is signed out")
            server.core.signOutAllDevices()
            sendEvents()
        case 10 where devices.count < 8: try copy(device)
        case 11 where devices.filter({ !$0.isLost }).count > 2: try lose(device)
        case 12: setQuota()
        case 13:
            _ = sweepAttachments()
        case 14:
            note("the server forgets uploads")
            server.core.forgetUploads()
        case 15:
            note("the server thins its history")
            server.core.thinHistory(at: timestamp)
        default:
            device.addSyncNow()
            try takeInputs(index)
        }
    }

    func setWrongClock(_ device: SimulatedDevice) {
        let unit: Int64 = generator.isTrue(withProbability: 0.5) ? 1_000 : 86_400_000
        let error = Int64(generator.number(in: -400..<400)) * unit
        note("the clock of \(device.name) is off by \(error) ms")
        device.environment.set(error: error)
    }

    private func restoreServer() throws {
        guard let backup = generator.element(of: backups) else { return backups.append(server.core.backUp()) }
        let signingOut = generator.isTrue(withProbability: 0.3)
        note("the server is restored from a backup\(signingOut ? ", and all devices are signed out" : "")")
        for device in devices { ledger.mayDouble(try device.unansweredWords(server.core.accounts[0].scope)) }
        server.core.restore(backup, signingOut: signingOut)
        ledger.readRestored(server.core.accounts[0].scope)
        sendEvents()
    }

    private func setQuota() {
        let used = server.core.accounts[0].scope.storedBytes
        let isFull = server.core.accounts[0].scope.quota == nil
        note(isFull ? "the account is full" : "the account has space")
        server.core.accounts[0].scope.quota = isFull ? used + Int64(generator.number(in: 0..<500)) : nil
    }

    /// Copies the database file of a device to a new device, perhaps with the files of attachments. The copy is not detected if the
    /// storage outside of the database file was copied too, or if both devices have the same storage.
    private func copy(_ original: SimulatedDevice) throws {
        let isNoticed = generator.isTrue(withProbability: 0.7)
        let hasSameMemory = generator.isTrue(withProbability: 0.5)
        let memory = isNoticed ? SimulatedMemory() : hasSameMemory ? original.memory : original.memory.copy
        let copy = try SimulatedDevice(
            name: "d\(devices.count)", time: now, generator: &generator,
            files: !isNoticed || generator.isTrue(withProbability: 0.5) ? try original.files.copied() : .init(),
            memory: memory)
        copy.hasEarlierApp = original.hasEarlierApp
        try original.database.writer.backup(to: copy.database.writer)
        note("\(copy.name) is a copy of \(original.name)\(isNoticed ? "" : ", unnoticed")")
        ledger.mayDouble(try copy.unsentWords())
        if !isNoticed {
            ledger.sharedNodes.insert(try copy.database.read { try $0.clock.node })
            ledger.twins.formUnion([original.name, copy.name])
        }
        devices.append(copy)
        try restart(devices.count - 1)
        schedule(.act(devices.count - 1), in: 0..<10_000)
        schedule(.tend(devices.count - 1), in: 1_000..<4_000)
    }

    /// Marks a device as lost. Another device revokes it, which undoes the changes that the lost device pushed recently.
    private func lose(_ device: SimulatedDevice) throws {
        guard let node = try device.database.read({ try $0.sessionToken == nil ? nil : $0.clock.node }) else { return }
        let owner = server.core.accounts[0].devices.first { $0.node != node }
        guard let owner else { return }
        let moment = now - Int64(generator.number(in: 0..<60_000))
        note("\(device.name) is lost and revoked; its changes since \(Timestamp(clamping: moment)) are undone")
        if let index = devices.firstIndex(where: { $0 === device }) { closeStream(index) }
        device.isLost = true
        ledger.lostDevices.insert(device.name)
        ledger.revokedNodes.insert(node)
        let body: JSON = ["moment": .string(Timestamp(clamping: moment + server.core.clockError).description)]
        let request = ServerRequest(
            "POST", "/v1/devices/\(node)/revocation", headers: ["content-type": "application/json"], body: body.bytes,
            token: owner.token)
        let response = server.core.respond(to: request, at: timestamp)
        note("revocation: \(response.status)")
        ledger.readRevocation(server.core.accounts[0].scope)
        sendEvents()
    }
}

internal import HesperClient
internal import HesperModel

/// What people do with the attachments of notes and recipes.
extension Life {
    func attach(_ index: Int, _ note: UniqueID) throws {
        let device = devices[index]
        let (id, bytes, data) = try makeBytes(device)
        ledger.attach(bytes, as: id, to: note, by: device.name)
        try change(index) { transaction in
            try self.insertAttachment(id, data, transaction)
            try transaction.app.update(ObjectID<HesperClient.Note>(note)) { $0.attachments.insert(ObjectID(id)) }
            self.note("\(device.name) attaches \(id) to \(note)")
        }
    }

    /// Adds a file with random bytes on a device.
    private func makeBytes(_ device: SimulatedDevice) throws -> (id: UniqueID, bytes: [UInt8], data: AttachmentData) {
        let bytes = (0..<generator.number(in: 1..<600)).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let id = device.environment.newID()
        var rest: [UInt8]? = bytes
        let data = try device.files.add(id) {
            defer { rest = nil }
            return rest
        }
        return (id, bytes, data)
    }

    private func insertAttachment(_ id: UniqueID, _ data: AttachmentData, _ transaction: RecordsTransaction) throws {
        var attachment = LocalObject(id: id, type: TypeName.attachment)
        let fixed: [String: Value] = [
            AttributeName.mimeType: .string("image/png"), "byteCount": .integer(data.byteCount),
            AttributeName.sha256: .string(data.sha256),
        ]
        attachment.made = LocalObject.Made(fixed: fixed, needsBytes: true)
        _ = try transaction.insert(attachment, values: [])
        try transaction.setBytes(of: id, file: id, byteCount: data.byteCount)
    }

    /// Sets the photo or the scan of a recipe to a new attachment, which may replace another one, or to nil.
    func setFile(_ index: Int, _ id: UniqueID) throws {
        let device = devices[index]
        let property = generator.isTrue(withProbability: 0.7) ? FileProperty.photo : .scan
        guard generator.isTrue(withProbability: 0.8) else {
            return try change(index) { transaction in
                try transaction.app.update(ObjectID<Recipe>(id)) { recipe in
                    guard recipe[keyPath: property.path] != nil else { return }
                    recipe[keyPath: property.path] = nil
                    self.ledger.setFile(property.attribute, of: id, hash: nil, by: device.name)
                }
                self.note("\(device.name) removes the \(property) of \(id)")
            }
        }
        let (file, _, data) = try makeBytes(device)
        ledger.setFile(property.attribute, of: id, hash: data.sha256, by: device.name)
        try change(index) { transaction in
            try self.insertAttachment(file, data, transaction)
            try transaction.app.update(ObjectID<Recipe>(id)) { $0[keyPath: property.path] = ObjectID(file) }
            self.note("\(device.name) sets the \(property) of \(id) to \(file)")
        }
    }

    /// Moves the photo of a recipe to the scan of the same recipe or of another one, in one transaction.
    func moveFile(_ index: Int, _ id: UniqueID) throws {
        let device = devices[index]
        guard let other = generator.element(of: try device.shown(Recipe.objectType)) else { return }
        try change(index) { transaction in
            guard let photo = try transaction.app.get(ObjectID<Recipe>(id))?.photo else { return }
            let hash = try transaction.app.get(photo)?.sha256
            try transaction.app.update(ObjectID<Recipe>(id)) { $0.photo = nil }
            try transaction.app.update(ObjectID<Recipe>(other)) { $0.scan = photo }
            self.ledger.move(photo.uniqueID)
            self.ledger.setFile(FileProperty.photo.attribute, of: id, hash: nil, by: device.name)
            if let hash {
                self.ledger.setFile(FileProperty.scan.attribute, of: other, hash: hash, by: device.name)
            }
            self.note("\(device.name) moves \(photo) from \(id) to \(other)")
        }
    }

    /// Removes an attachment from a note, and perhaps adds it to another note in the same transaction.
    func moveAttachment(_ index: Int, _ note: UniqueID) throws {
        let device = devices[index]
        let attachments = try device.database.read {
            try $0.app.get(ObjectID<HesperClient.Note>(note))?.attachments ?? []
        }
        guard let attachment = generator.element(of: Array(attachments)) else { return try attach(index, note) }
        let other = generator.element(of: try device.shown(TypeName.note))
        let isMoved = generator.isTrue(withProbability: 0.5)
        ledger.detach(attachment.uniqueID)
        try change(index) { transaction in
            try transaction.app.update(ObjectID<HesperClient.Note>(note)) { $0.attachments.remove(attachment) }
            guard isMoved, let other, other != note else { return }
            try transaction.app.update(ObjectID<HesperClient.Note>(other)) { $0.attachments.insert(attachment) }
        }
    }
}

public import Foundation
internal import HesperModel

extension LocalStore {
    /// Adds a file to a note as an attachment. The file is copied to the store, so the original may be changed or deleted
    /// afterwards.
    ///
    ///     let photo = try await store.attach(url, to: note.id)
    ///
    /// - Parameters:
    ///   - file: the file to attach.
    ///   - note: the ID of the note.
    ///   - filename: the name that other devices see. By default, the name of the file.
    ///   - mimeType: the media type. By default, it is derived from the filename extension.
    /// - Throws: ``StoreError/notFound(objectType:id:)`` if there is no such note.
    @discardableResult
    public func attach(
        _ file: URL, to note: ObjectID<Note>, filename: String? = nil, mimeType: String? = nil
    ) async throws -> Attachment {
        try await attach(file, filename, mimeType, to: note) { $0.attachments.insert($1) }
    }

    /// Adds a file to an object of an app's type: creates an attachment, and sets `property` to its ID. The file is copied to the
    /// store, so the original may be changed or deleted afterwards.
    ///
    ///     let photo = try await store.attach(url, to: soup.id, as: \.photo)
    ///
    /// The server later deletes the attachment that the property had before, if no object has it any more.
    ///
    /// - Parameters:
    ///   - file: the file to attach.
    ///   - object: the ID of the object.
    ///   - property: the property that will have the attachment.
    ///   - filename: the name that other devices see. By default, the name of the file.
    ///   - mimeType: the media type. By default, it is derived from the filename extension.
    /// - Throws: ``StoreError/notFound(objectType:id:)`` if there is no such object.
    @discardableResult
    public func attach<Object: SyncedObject>(
        _ file: URL, to object: ObjectID<Object>,
        as property: WritableKeyPath<Object, Attachment.ID?> & Sendable, filename: String? = nil,
        mimeType: String? = nil
    ) async throws -> Attachment {
        try await attach(file, filename, mimeType, to: object) { $0[keyPath: property] = $1 }
    }

    private func attach<Object: SyncedObject>(
        _ file: URL, _ filename: String?, _ mimeType: String?, to object: ObjectID<Object>,
        _ add: @escaping @Sendable (inout Object, Attachment.ID) -> Void
    ) async throws -> Attachment {
        let name = filename ?? file.lastPathComponent
        let id = UniqueID.random()
        let files = files
        let data = try await Task.detached {
            let source = try FileHandle(forReadingFrom: file)
            defer { try? source.close() }
            do {
                return try files.add(id) { try source.read(upToCount: 1 << 20).map { Array($0) } }
            } catch AttachmentFilesError.diskFull {
                throw StoreError.diskFull
            }
        }.value
        do {
            return try await write { tx in
                try tx.writer.attach(id, to: object, data, file: id, filename: name, mimeType: mimeType, add)
            }
        } catch {
            try? files.delete(id)
            throw error
        }
    }

    /// The bytes of an attachment; nil if they are not on this device yet.
    public func data(of id: Attachment.ID) async throws -> Data? {
        let file = try await database.performRead { records in
            try records.hasBytes(id.uniqueID) ? records.file(of: id.uniqueID) : nil
        }
        guard let file else { return nil }
        let files = files
        return try await Task.detached {
            var data = Data()
            while true {
                let piece = try files.read(file, at: Int64(data.count), count: 1 << 20)
                guard !piece.isEmpty else { return data }
                data += piece
            }
        }.value
    }
}

extension StoreWriter {
    /// Adds a new attachment to an object. The bytes of the attachment are in `file` on this device.
    /// - Parameter add: adds the ID of the attachment to the object.
    @discardableResult
    func attach<Object: SyncedObject>(
        _ id: UniqueID, to object: ObjectID<Object>, _ data: AttachmentData, file: UniqueID, filename: String,
        mimeType: String? = nil, _ add: (inout Object, Attachment.ID) -> Void
    ) throws -> Attachment {
        let fixed: [String: Value] = [
            AttributeName.mimeType: .string(mimeType ?? MediaType.of(filename)), "filename": .string(filename),
            "byteCount": .integer(data.byteCount), AttributeName.sha256: .string(data.sha256),
        ]
        for (name, value) in fixed {
            guard let field = HesperModel.Field(rawValue: name) else { continue }
            if case .failure(let error) = field.read(value.json) {
                throw StoreError.invalidValue("\(name) \(error.requirement).")
            }
        }
        var record = LocalObject(id: id, type: TypeName.attachment)
        record.made = LocalObject.Made(fixed: fixed, needsBytes: true)
        guard let inserted = try records.insert(record, values: []) else {
            throw StoreError.idIsTaken(objectType: TypeName.attachment, id: id.description)
        }
        try records.setBytes(of: id, file: file, byteCount: data.byteCount)
        _ = try update(object) { add(&$0, ObjectID(id)) }
        return try reader.read(inserted)
    }
}

/// The media types of common files.
private enum MediaType {
    static func of(_ filename: String) -> String {
        let name = filename.lowercased()
        guard let dot = name.lastIndex(of: ".") else { return unknown }
        return types[String(name[name.index(after: dot)...])] ?? unknown
    }

    private static let unknown = "application/octet-stream"
    private static let types = [
        "avif": "image/avif", "csv": "text/csv", "gif": "image/gif", "heic": "image/heic", "html": "text/html",
        "jpeg": "image/jpeg", "jpg": "image/jpeg", "json": "application/json", "m4a": "audio/mp4",
        "md": "text/markdown",
        "mov": "video/quicktime", "mp3": "audio/mpeg", "mp4": "video/mp4", "pdf": "application/pdf", "png": "image/png",
        "svg": "image/svg+xml", "txt": "text/plain", "webp": "image/webp", "zip": "application/zip",
    ]
}

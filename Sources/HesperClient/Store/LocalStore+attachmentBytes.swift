internal import Foundation
internal import GRDB
package import HesperModel

// For `HesperMirror`: reading and storing the bytes of attachments in pieces, and adding attachments in a transaction.

/// Whether the bytes of an attachment are on this device and on the server.
package struct AttachmentState: Equatable, Sendable {
    /// Whether the bytes are on this device.
    package var hasBytes: Bool
    /// Whether the server has the attachment, or had it before it was deleted.
    package var isSent: Bool
}

extension ReadTransaction {
    package func state(of id: Attachment.ID) throws -> AttachmentState {
        let object = try reader.records.object(id.uniqueID, type: TypeName.attachment)
        return AttachmentState(
            hasBytes: try reader.records.hasBytes(id.uniqueID), isSent: object?.isAcknowledged ?? true)
    }

    /// The IDs of all attachments in a note, including attachments that were deleted or have not arrived on this device.
    package func attachmentIDs(of note: ObjectID<Note>) throws -> [Attachment.ID] {
        guard let object = try reader.records.object(note.uniqueID, type: TypeName.note) else { return [] }
        return object.visible.compactMap { attribute, cell in
            guard case ("attachments", let id?) = AttributeName.split(attribute), cell.value == .bool(true) else {
                return nil
            }
            return Attachment.ID(id)
        }
    }
}

extension WriteTransaction {
    /// Adds an attachment to a note. The bytes of the attachment must be on this device. The attachment may exist already, for
    /// example because it was in a note before. In this case the existing attachment is added to the note.
    /// - Parameter file: the ID that was passed to ``LocalStore/addBytes(of:next:)`` when the bytes were stored, or the ID of
    ///   another attachment that has these bytes. It may differ from `id`.
    /// - Returns: false if `id` belongs to an attachment that was deleted, or that has another hash or filename.
    /// - Throws: ``StoreError/notFound(objectType:id:)`` if there is no such note.
    package func attach(
        _ id: Attachment.ID, to note: ObjectID<Note>, file: Attachment.ID, _ data: AttachmentData, filename: String
    ) throws -> Bool {
        if let known = try get(id) {
            guard known.sha256 == data.sha256, known.filename == filename else { return false }
            try update(note) { $0.attachments.insert(id) }
            return true
        }
        guard try writer.records.object(id.uniqueID, type: TypeName.attachment) == nil,
            try !writer.records.isDeleted(id.uniqueID)
        else { return false }
        let name = try writer.records.file(of: file.uniqueID) ?? file.uniqueID
        try writer.attach(id.uniqueID, to: note, data, file: name, filename: filename) { $0.attachments.insert($1) }
        return true
    }
}

extension LocalStore {
    /// Stores the bytes of a new attachment. If the attachment is then not added to a note, the caller must remove the bytes with
    /// ``removeBytes(of:)``.
    /// - Parameter next: returns the next bytes; nil at the end.
    /// - Returns: the size and the hash of the bytes.
    package func addBytes(
        of id: Attachment.ID, next: @escaping @Sendable () throws -> [UInt8]?
    ) async throws -> AttachmentData {
        let files = files
        return try await Task.detached {
            do {
                return try files.add(id.uniqueID, next: next)
            } catch AttachmentFilesError.diskFull {
                throw StoreError.diskFull
            }
        }.value
    }

    /// Removes stored bytes that belong to no attachment. A process leaves such bytes if it is killed after it stored them and
    /// before it added the attachment.
    package func removeUnusedBytes() async throws {
        let stored = try files.list().filter(\.value.isFinished).keys
        guard !stored.isEmpty else { return }
        let used = try await database.performRead { try $0.usedFiles() }
        for id in stored where !used.contains(id) { try files.delete(id) }
    }

    package func removeBytes(of id: Attachment.ID) throws { try files.delete(id.uniqueID) }

    /// A reader of an attachment's bytes; nil if they are not on this device.
    package func bytes(of id: Attachment.ID) async throws -> AttachmentReader? {
        let name = try await database.performRead { try $0.hasBytes(id.uniqueID) ? $0.file(of: id.uniqueID) : nil }
        return name.map { AttachmentReader(files: files, name: $0) }
    }

    /// Requests the download of an attachment's bytes, and returns at once. They are downloaded before all other attachments, even
    /// if the attachment is large.
    package func wantBytes(of id: Attachment.ID) async throws {
        try await database.performWrite { records in
            try TransferTable.create(records)
            try TransferTable(records).want(id.uniqueID)
        }
        await runner.changed()
    }

    /// The maximum size of an attachment on the server; nil if the server cannot be reached.
    package func largestAttachment() async throws -> Int64? {
        guard let server = try await database.performRead({ try $0.session?.server }) else { return nil }
        let accounts = Accounts(server: server, transport: makeTransport(server))
        return try? await accounts.serverInfo().limits["attachmentBytes"]
    }
}

extension RecordsTransaction {
    /// The names of the files that must be kept: the files with the bytes of attachments, and the files of transfers. The files of
    /// transfers are included, because a download finishes its file before it records this in the database.
    fileprivate func usedFiles() throws -> Set<UniqueID> {
        let sql = "SELECT file FROM bytes UNION SELECT id FROM transfers"
        guard try database.tableExists("transfers") else { return [] }
        return Set(try Data.fetchAll(database, sql: sql).compactMap { UniqueID(bytes: $0) })
    }
}

/// Reads the bytes of an attachment in pieces.
package struct AttachmentReader: Sendable {
    fileprivate let files: any AttachmentFiles
    fileprivate let name: UniqueID

    /// Reads at most `count` bytes; fewer at the end of the file.
    package func read(at offset: Int64, count: Int) throws -> [UInt8] { try files.read(name, at: offset, count: count) }
}

import HesperModel
import HesperStore
import NIOCore

/// The steps of an export that block the thread: compression, and access to temporary files.
///
/// `@unchecked Sendable` is safe because the caller waits for the end of each step before it starts the next step.
final class ExportWork: @unchecked Sendable {
    private let snapshot: ExportSnapshot
    private let date: Timestamp
    private let zip: ZipWriter
    private var names = FileNames()
    /// The members of the object `files` in `hesper.json`. The name of each member is the ID of an object, and the value is the
    /// path of the file for this object.
    private var fileSpool: SpoolWriter
    private var notes: SpoolReader
    private var attachments: SpoolReader
    /// The path of each attachment in the archive; nil until the paths are assigned. They are assigned before the first note is
    /// added, because the exported texts of the notes contain them.
    private var paths: [UniqueID: String]?
    private var document: ExportDocument?
    private(set) var report = ExportReport()

    /// The approximate size, in bytes, of each piece of the archive.
    private static let piece = 128 << 10

    init(_ snapshot: ExportSnapshot, date: Timestamp) throws {
        self.snapshot = snapshot
        self.date = date
        zip = try ZipWriter()
        fileSpool = try SpoolWriter()
        notes = SpoolReader(snapshot.notes)
        attachments = SpoolReader(snapshot.attachments)
    }

    // MARK: Notes

    /// Adds the next notes to the archive.
    /// - Returns: the number of added notes, and the next bytes of the archive; nil if there are no more notes.
    func addNotes() throws -> (Int, ByteBuffer)? {
        let paths = try assignPaths()
        var count = 0
        var bytes = 0
        // libarchive buffers compressed text, so the output may remain small although much text has been read. Therefore the loop
        // also ends when it has read enough text, so that each step is short.
        while zip.outputCount < ExportWork.piece, bytes < 4 * ExportWork.piece, let body = try notes.next() {
            let note = try ExportedNote(body)
            let path = names.path(
                folder: note.isArchived ? "Archive/" : "", FileName.stem(ofNote: note.text), ending: ".md")
            // The IDs of attachments in the text are replaced by paths, so that other apps show the pictures. An import does not
            // need the IDs in this file, because it reads the original text from `hesper.json`.
            let text = AttachmentMark.rewrite(Array(note.text.utf8)) { id in
                (paths[id] ?? paths[UniqueID.derived(from: note.uniqueID.description, in: id)])
                    .map { AttachmentMark.target(of: note.isArchived ? "../\($0)" : $0) }
            }
            try zip.add(path, text, date: note.date)
            try record(note.uniqueID, path)
            count += 1
            bytes += body.count
        }
        report.notes += count
        return count == 0 ? nil : (count, zip.takeOutput())
    }

    private func assignPaths() throws -> [UniqueID: String] {
        if let paths { return paths }
        var assigned: [UniqueID: String] = [:]
        var reader = SpoolReader(snapshot.attachments)
        while let attachment = try reader.next().map({ try ExportedAttachment($0) }) {
            let parts = FileName.parts(
                ofAttachment: attachment.uniqueID, filename: attachment.filename, mimeType: attachment.mimeType)
            assigned[attachment.uniqueID] = names.path(folder: "Attachments/", parts.stem, ending: parts.ending)
        }
        paths = assigned
        return assigned
    }

    private func record(_ id: UniqueID, _ path: String) throws {
        var writer = JSONWriter(capacity: 64 + path.utf8.count)
        writer.member(id.description, path)
        try fileSpool.append(writer.bytes)
    }

    // MARK: Attachments

    func nextAttachment() throws -> ExportedAttachment? { try attachments.next().map { try ExportedAttachment($0) } }

    func begin(_ attachment: ExportedAttachment, _ blob: Blob) throws {
        try zip.begin(
            try path(of: attachment), byteCount: blob.data.byteCount, date: blob.arrivalDate,
            isDeflated: MediaType.isWorthDeflating(attachment.mimeType))
    }

    func add(_ bytes: ByteBuffer) throws -> ByteBuffer {
        try bytes.withUnsafeReadableBytes { try zip.add($0) }
        return zip.takeOutput()
    }

    func end(_ attachment: ExportedAttachment, isWhole: Bool) throws -> ByteBuffer {
        try zip.end()
        let path = try path(of: attachment)
        try record(attachment.uniqueID, path)
        if isWhole { report.attachments += 1 } else { miss(attachment, path: path) }
        return zip.takeOutput()
    }

    private func path(of attachment: ExportedAttachment) throws -> String {
        guard let path = try assignPaths()[attachment.uniqueID] else {
            throw Problem(.internalError, "An exported attachment has no path.")
        }
        return path
    }

    func miss(_ attachment: ExportedAttachment, path: String? = nil) {
        report.missing.append(
            ExportReport.Missing(uniqueID: attachment.uniqueID, filename: attachment.filename, path: path))
    }

    // MARK: hesper.json

    func beginDocument() throws {
        if !report.missing.isEmpty { try zip.add("MISSING.txt", Array(report.missingText.utf8), date: date) }
        document = ExportDocument(snapshot, files: try fileSpool.finish(), missing: report.missing, date: date)
        try zip.begin(ExportDocument.path, byteCount: nil, date: date)
    }

    /// Adds the next part of the document and returns the next bytes of the archive; nil if the document is complete.
    func addDocument() throws -> ByteBuffer? {
        guard let part = try document?.next() else { return nil }
        try zip.add(part)
        return zip.takeOutput()
    }

    func finish() throws -> ByteBuffer {
        try zip.end()
        try zip.finish()
        return zip.takeOutput()
    }
}

import HesperModel

/// Collects the attachments of one note. If several notes use the same file, each of these notes gets its own attachment with the
/// contents of the file.
struct AttachmentCollector {
    private let note: UniqueID
    private let limits: SourceLimits
    private let hashes: FileHashes
    private(set) var attachments: [SourceAttachment] = []
    private(set) var losses: [SourceNote.Loss] = []

    init(of note: UniqueID, _ limits: SourceLimits, _ hashes: FileHashes) {
        (self.note, self.limits, self.hashes) = (note, limits, hashes)
    }

    /// Adds an attachment for a file.
    /// - Parameters:
    ///   - filename: the name that the source app shows; nil to use the name of the file.
    ///   - mimeType: the media type that the source app states; nil if it states none.
    ///   - keepsPath: whether the folders in `filename` are kept.
    /// - Returns: the attachment; nil if the file cannot be an attachment. In that case, the reason is added to ``losses``.
    mutating func add(
        _ file: SourceFile, filename: String? = nil, mimeType: String? = nil, keepsPath: Bool = false
    ) -> SourceAttachment? {
        let name = filename.flatMap { $0.isEmpty ? nil : $0 } ?? file.name
        do throws(SourceNote.Rejected) {
            if file.problem == nil, file.byteCount > limits.attachmentBytes {
                throw SourceNote.Rejected(
                    reason: SourceNote.Rejected.tooLarge(file.byteCount, limit: limits.attachmentBytes))
            }
            let data = try hashes.data(of: file)
            let id = ImportedNote.attachment(of: note, sha256: data.sha256)
            if let known = attachments.first(where: { $0.uniqueID == id }) { return known }
            let attachment = SourceAttachment(
                uniqueID: id, filename: AttachmentCollector.valid(name, keepsPath: keepsPath),
                mimeType: AttachmentCollector.type(mimeType, of: name, file.name), location: file.location,
                byteCount: data.byteCount, sha256: data.sha256)
            attachments.append(attachment)
            return attachment
        } catch {
            lose(name, error.reason)
            return nil
        }
    }

    /// Records a part of the note that cannot be imported.
    mutating func lose(_ part: String, _ reason: String) {
        let loss = SourceNote.Loss(part: part, reason: reason)
        if !losses.contains(loss) { losses.append(loss) }
    }

    /// Changes a name so that it is allowed as `filename`. Removes the folders, unless `keepsPath` is true, and shortens a name
    /// that exceeds the limit.
    private static func valid(_ name: String, keepsPath: Bool) -> String {
        if keepsPath, name.utf8.count <= Limits.filenameBytes { return name }
        let name =
            name.filter { $0 != "\0" }.split(whereSeparator: { "/\\".contains($0) }).last.map(String.init) ?? "file"
        guard name.utf8.count > Limits.filenameBytes else { return name }
        return String(decoding: name.utf8.suffix(Limits.filenameBytes / 2), as: UTF8.self)
    }

    private static func type(_ type: String?, of names: String...) -> String {
        if let type, case .success = FieldValue.mimeType(.string(type.lowercased())) { return type.lowercased() }
        let types = names.map(MediaType.of)
        return types.first { $0 != MediaType.unknown } ?? MediaType.unknown
    }
}

/// Computes the sizes and hashes of the files of a source. Each file is read only once, even if several notes use it.
final class FileHashes {
    private var known: [String: AttachmentData] = [:]
    /// The paths of the files that at least one note uses. Only the hashes of these files were computed.
    var used: Set<String> { Set(known.keys) }

    func data(of file: SourceFile) throws(SourceNote.Rejected) -> AttachmentData {
        if let data = known[file.path] { return data }
        let data = try file.contents()
        known[file.path] = data
        return data
    }
}

import HesperModel
import HesperStore

/// The table of contents of an export, read from `hesper.json`. It does not contain the objects, which are read with
/// ``forEachElement(of:_:)``.
public struct ExportContents: Sendable {
    /// The ID of an attachment, and the size and digest that were recorded for it in the export.
    public struct Attachment: Sendable, Equatable {
        public let uniqueID: UniqueID
        public let data: AttachmentData
    }

    /// The path of `hesper.json` in the archive. If a user unpacked the archive and packed it again, the path may begin with the
    /// name of a folder.
    public let path: String
    /// The attachments, by their paths in the archive.
    public private(set) var attachments: [String: Attachment] = [:]
    /// The number of objects and DeletedObjects in the export.
    public private(set) var objectCount = 0

    /// The names of the arrays of objects in `hesper.json`, each with the section (the kind of objects) that the array contains.
    /// The section is nil for the array of DeletedObjects.
    public static let sections: [String: Section?] = Dictionary(
        uniqueKeysWithValues: [("deletedObjects", nil)] + Section.allCases.map { ($0.name, $0) })

    /// Reads the contents of an archive; nil if the archive is not an export of Hesper.
    /// - Throws: ``ArchiveError`` if the archive is damaged or was made by a later version. ``Problem`` if `hesper.json` is not
    ///   valid JSON.
    public init?(of archive: String) async throws {
        let zip = try ZipReader(archive)
        var found: String?
        while let entry = try zip.next() {
            let parts = entry.path.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.last == ExportDocument.path[...], parts.count <= 2 else { continue }
            found = entry.path
            break
        }
        guard let found else { return nil }
        path = found
        guard try await read(DocumentReader { try zip.read() }, archive) else { return nil }
    }

    /// Reads the document of an export, and checks its format.
    /// - Returns: whether the document is an export.
    private mutating func read(_ reader: DocumentReader, _ archive: String) async throws -> Bool {
        var reader = reader
        var format: JSON?
        var version: JSON?
        var contents = self
        var files: [UniqueID: String] = [:]
        var data: [UniqueID: AttachmentData] = [:]
        try await reader.read { location, value in
            switch (location.member, location.name) {
            case ("format", nil): format = value
            case ("formatVersion", nil): version = value
            case ("files", let name?):
                // The text of each note is in the document, so the files of notes are not needed.
                guard let id = UniqueID(name), let path = value.text, path.hasPrefix("Attachments/") else { return }
                files[id] = path
            case ("attachments", nil):
                contents.objectCount += 1
                guard let id = value["uniqueID"]?.text.flatMap({ UniqueID($0) }),
                    case .integer(let byteCount)? = value["byteCount"], let sha256 = value["sha256"]?.text
                else { return }
                data[id] = AttachmentData(byteCount: byteCount, sha256: sha256)
            case (let list, nil) where ExportContents.sections.keys.contains(list): contents.objectCount += 1
            default: break
            }
        }
        guard format == .string(ExportDocument.format) else { return false }
        guard version == .integer(ExportDocument.version) else {
            throw ArchiveError("\(archive) was exported by a later version of Hesper. Update Hesper to import it.")
        }
        let folder = path.dropLast(ExportDocument.path.count)
        for (id, path) in files {
            guard let data = data[id] else { continue }
            contents.attachments["\(folder)\(CanonicalForm.composed(path))"] = Attachment(uniqueID: id, data: data)
        }
        self = contents
        return true
    }

    /// Passes every object of the archive to `body`, as an element of a push, in the order of the document.
    public func forEachElement(of archive: String, _ body: (Push.Element) async throws -> Void) async throws {
        let zip = try ZipReader(archive)
        while let entry = try zip.next() {
            guard entry.path == path else { continue }
            var reader = DocumentReader { try zip.read() }
            var counts: [String: Int] = [:]
            return try await reader.read { location, value in
                guard location.name == nil, let section = ExportContents.sections[location.member] else { return }
                let index = counts[location.member, default: 0]
                counts[location.member] = index + 1
                try await body(PushReader.state(value, in: section, at: "/\(location.member)/\(index)"))
            }
        }
    }
}

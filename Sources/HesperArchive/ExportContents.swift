import HesperModel
import HesperStore

/// What an archive says that it has: all of `hesper.json` but the objects themselves, which are read when it is their turn.
public struct ExportContents: Sendable {
    /// An attachment and its bytes, as whoever exported them knew them.
    public struct Attachment: Sendable, Equatable {
        public let uniqueID: UniqueID
        public let data: AttachmentData
    }

    /// The path of `hesper.json`, which is in a folder if somebody has packed the archive again.
    public let path: String
    /// By their paths in the archive.
    public private(set) var attachments: [String: Attachment] = [:]
    /// Objects and DeletedObjects in all.
    public private(set) var objectCount = 0

    /// The lists of objects, in the order in which they are best pushed; nil stands for DeletedObjects.
    public static let sections: [String: Section?] = Dictionary(
        uniqueKeysWithValues: [("deletedObjects", nil)] + Section.allCases.map { ($0.name, $0) })

    /// Nil if the archive is somebody's own, and no export.
    /// - Throws: ``ArchiveError`` if it is broken, or made by a later version; ``Problem`` if `hesper.json` is no JSON.
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

    /// - Returns: whether it is the document of an export.
    private mutating func read(_ reader: DocumentReader, _ archive: String) async throws -> Bool {
        var reader = reader
        var format: JSON?
        var version: JSON?
        var contents = self
        var files: [UniqueID: String] = [:]
        var data: [UniqueID: AttachmentData] = [:]
        try await reader.read { place, value in
            switch (place.member, place.name) {
            case ("format", nil): format = value
            case ("formatVersion", nil): version = value
            case ("files", let name?):
                // Notes are all in the document itself.
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
            throw ArchiveError("\(archive) was made by a later Hesper; this one cannot read it.")
        }
        let folder = path.dropLast(ExportDocument.path.count)
        for (id, path) in files {
            guard let data = data[id] else { continue }
            contents.attachments["\(folder)\(CanonicalForm.composed(path))"] = Attachment(uniqueID: id, data: data)
        }
        self = contents
        return true
    }

    /// Gives every object of the archive as an element of a push, in the order of the document.
    public func forEachElement(of archive: String, _ body: (Push.Element) async throws -> Void) async throws {
        let zip = try ZipReader(archive)
        while let entry = try zip.next() {
            guard entry.path == path else { continue }
            var reader = DocumentReader { try zip.read() }
            var counts: [String: Int] = [:]
            return try await reader.read { place, value in
                guard place.name == nil, let section = ExportContents.sections[place.member] else { return }
                let index = counts[place.member, default: 0]
                counts[place.member] = index + 1
                try await body(PushReader.state(value, in: section, at: "/\(place.member)/\(index)"))
            }
        }
    }
}

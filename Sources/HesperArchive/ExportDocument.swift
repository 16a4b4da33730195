import HesperModel

/// The file `hesper.json`, which contains all objects of an account in the format of sync, and the path of each exported file.
///
///     {"format": "hesper-export", "formatVersion": 1, "exportDate": "2026-11-21T12:00:00.000Z", "digest": "dd29…",
///      "files": {"c0ffee00-…": "Milk.md"}, "missing": [],
///      "deletedObjects": […], "tags": […], "attachments": […], "objects": […], "notes": […]}
///
/// This is the last file of an archive, because it lists the paths of all other files and the missing attachments. The members
/// of the JSON object are in the order in which an import needs them.
struct ExportDocument {
    static let path = "hesper.json"
    static let format = "hesper-export"
    static let version: Int64 = 1

    private enum Part {
        case text([UInt8])
        /// The elements of a JSON array, or the members of a JSON object. Commas are written between them.
        case list(Spool)
    }

    private var parts: [Part]
    /// The reader of the list that is being written; nil if no list is being written.
    private var reader: SpoolReader?
    private var isFirst = true

    /// The approximate size, in bytes, of each piece of the document.
    private static let piece = 256 << 10

    init(_ snapshot: ExportSnapshot, files: Spool, missing: [ExportReport.Missing], date: Timestamp) {
        var writer = JSONWriter(capacity: 512)
        writer.object { writer in
            writer.member("format", ExportDocument.format)
            writer.member("formatVersion", ExportDocument.version)
            writer.member("exportDate", date)
            writer.member("digest", snapshot.head.digest.description)
            writer.name("missing")
            writer.array { writer in
                for missing in missing { writer.id(missing.uniqueID) }
            }
        }
        // The closing brace is removed, because the lists follow as further members of the object.
        parts = [.text(writer.bytes.dropLast() + Array(",\"files\":{".utf8)), .list(files), .text(Array("}".utf8))]
        let lists = [
            ("deletedObjects", snapshot.deletedObjects), ("tags", snapshot.tags),
            ("attachments", snapshot.attachments), ("objects", snapshot.objects), ("notes", snapshot.notes),
        ]
        for (name, list) in lists {
            parts += [.text(Array(",\n\"\(name)\":[".utf8)), .list(list), .text(Array("]".utf8))]
        }
        parts.append(.text(Array("}\n".utf8)))
        parts.reverse()
    }

    /// The next bytes of the document; nil after the last bytes.
    mutating func next() throws -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < ExportDocument.piece {
            if reader != nil {
                guard let record = try reader?.next() else {
                    reader = nil
                    continue
                }
                if !isFirst { bytes += Array(",\n".utf8) }
                isFirst = false
                bytes += record
                continue
            }
            switch parts.popLast() {
            case .text(let text)?: bytes += text
            case .list(let spool)?:
                reader = SpoolReader(spool)
                isFirst = true
            case nil: return bytes.isEmpty ? nil : bytes
            }
        }
        return bytes
    }
}

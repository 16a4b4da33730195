import HesperImport
import HesperModel
import HesperStore
import NIOCore

extension ImportRecord {
    /// Writes the members of an import.
    func write(to writer: inout JSONWriter) {
        writer.member("uniqueID", uniqueID)
        if let name { writer.member("name", name) }
        writer.member("byteCount", byteCount)
        writer.member("creationDate", creationDate)
        writer.member("state", state.rawValue)
        writer.member("done", done)
        writer.member("total", total)
        for (name, json) in [("preview", preview), ("report", report)] {
            guard let json else { continue }
            writer.name(name)
            writer.raw(json.utf8)
        }
        if let problem { writer.member("problem", problem) }
    }

    /// The data of the event `import`. It is one line.
    var event: ByteBuffer { ImportRecord.event(uniqueID, state.rawValue, done, total) }

    /// The data of the event about an import that was deleted.
    var deletionEvent: ByteBuffer { ImportRecord.event(uniqueID, "deleted", 0, 0) }

    private static func event(_ id: UniqueID, _ state: String, _ done: Int64, _ total: Int64) -> ByteBuffer {
        var writer = JSONWriter(capacity: 128)
        writer.object { writer in
            writer.member("uniqueID", id)
            writer.member("state", state)
            writer.member("done", done)
            writer.member("total", total)
        }
        return ByteBuffer(bytes: writer.bytes)
    }
}

extension ImportPreview {
    /// The preview as JSON.
    var json: String {
        String.json { writer in
            for (name, count) in [
                ("notes", notes), ("tags", tags), ("pictures", pictures), ("files", files), ("objects", objects),
                ("trashed", trashed), ("ignored", ignored),
            ] { writer.member(name, Int64(count)) }
            writer.write(skipped)
        }
    }
}

extension ImportReport {
    /// The report as JSON.
    var json: String {
        String.json { writer in
            for (name, count) in [
                ("new", new), ("changed", changed), ("unchanged", unchanged), ("deleted", deleted), ("tags", tags),
                ("attachments", attachments), ("objects", objects), ("deletions", deletions), ("trashed", trashed),
                ("ignored", ignored),
            ] { writer.member(name, Int64(count)) }
            writer.write(skipped)
        }
    }
}

extension String {
    fileprivate static func json(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter(capacity: 512)
        writer.object(body)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension JSONWriter {
    /// The maximum length of a path or a reason in a report, in characters.
    private static let skippedLength = 300

    /// Writes the number of skipped files and notes, and lists the first of them.
    fileprivate mutating func write(_ skipped: [ImportReport.Skipped]) {
        member("skippedCount", Int64(skipped.count))
        name("skipped")
        array { writer in
            for item in skipped.prefix(ImportLimits.skippedEntries) {
                writer.object { writer in
                    writer.member("path", String(item.path.prefix(JSONWriter.skippedLength)))
                    writer.member("reason", String(item.reason.prefix(JSONWriter.skippedLength)))
                }
            }
        }
    }
}

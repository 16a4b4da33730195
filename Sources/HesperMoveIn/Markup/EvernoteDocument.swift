import CXML2
import Foundation

/// Reads an ENEX file of Evernote. It is an XML document with notes, whose contents are documents in ENML.
///
/// If a note is not valid, it is skipped, and a new parser begins at the next note.
struct EvernoteDocument {
    private let source: Int
    private let staging: String
    private let limit: Int64
    private static let chunk = 256 << 10
    /// The maximum number of invalid notes in a file. When it is reached, the rest of the file is not read.
    private static let maximumBroken = 1_000

    init(_ source: Int, _ staging: String, _ limit: Int64) {
        (self.source, self.staging, self.limit) = (source, staging, limit)
    }

    func read(_ path: String, _ write: (MarkupRecord) throws -> Void) throws {
        let file = try FileHandle(forReadingFrom: URL(filePath: path))
        defer { try? file.close() }
        // The parser of each iteration begins at `offset` in the file.
        var (offset, broken): (UInt64, Int) = (0, 0)
        while true {
            try file.seek(toOffset: offset)
            let reader = EvernoteNotes(source, staging, limit)
            let parser = MarkupParser(.xml, reader)
            reader.parser = parser
            let prefix = offset == 0 ? "" : "<en-export>"
            Array(prefix.utf8).withUnsafeBytes { parser.parse($0) }
            while parser.problem == nil, var bytes = try file.read(upToCount: EvernoteDocument.chunk), !bytes.isEmpty {
                // Replace control characters, which are not allowed in XML. Some programs write them nevertheless.
                bytes.withUnsafeMutableBytes { bytes in
                    xml2_replace_controls(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
                    parser.parse(UnsafeRawBufferPointer(bytes))
                }
                for record in reader.takeRecords() { try write(record) }
            }
            parser.finish()
            if let error = reader.failure { throw error }
            for record in reader.takeRecords() { try write(record) }
            guard let problem = parser.problem, !reader.isAtEnd else { return }
            broken += 1
            let start = offset + UInt64(max(reader.noteStart - prefix.utf8.count, 0))
            try write(.skipped(source: source, title: reader.titleOfNote, reason: problem))
            guard broken < EvernoteDocument.maximumBroken, let next = try next(in: file, after: start) else { return }
            offset = next
        }
    }

    /// The offset of the first note that begins after `start`; nil if there is none.
    private func next(in file: FileHandle, after start: UInt64) throws -> UInt64? {
        let mark = Data("<note>".utf8)
        var position = start + 1
        while true {
            try file.seek(toOffset: position)
            guard let bytes = try file.read(upToCount: EvernoteDocument.chunk), bytes.count >= mark.count else {
                return nil
            }
            if let found = bytes.firstRange(of: mark) { return position + UInt64(found.lowerBound - bytes.startIndex) }
            position += UInt64(bytes.count - mark.count + 1)
        }
    }
}

/// Collects the notes of an ENEX file while it is parsed.
private final class EvernoteNotes: MarkupHandler {
    weak var parser: MarkupParser?
    /// The error that stopped the parser, such as a full disk; nil if there was none.
    private(set) var failure: (any Error)?
    /// The approximate position of the most recent note, in the bytes that the parser received.
    private(set) var noteStart = 0
    private(set) var isAtEnd = false

    private let source: Int
    private let staging: String
    private let limit: Int64
    private var records: [MarkupRecord] = []
    private var open: [String] = []
    private var note: MarkupRecord.Note?
    private var content: [UInt8] = []
    /// The text of the current element; nil if it is not needed.
    private var value: [UInt8]?
    private var file: EmbeddedFile?
    private var resource: (name: String, mimeType: String, file: Result<MarkupRecord.File, SourceNote.Rejected>?)?
    private var task: (title: String, isDone: Bool, group: String, order: String)?
    private var tasks: [(title: String, isDone: Bool, group: String, order: String)] = []
    private var problem: String?

    /// The maximum size, in bytes, of the text of an element. It applies neither to the contents of a note nor to files.
    private static let maximumValueBytes = 64 << 10

    init(_ source: Int, _ staging: String, _ limit: Int64) {
        (self.source, self.staging, self.limit) = (source, staging, limit)
    }

    var titleOfNote: String { note?.title ?? "" }

    func takeRecords() -> [MarkupRecord] {
        defer { records = [] }
        return records
    }

    private func attempt(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            failure = error
            parser?.stop("\(error)")
        }
    }

    func start(_ name: String, _ attributes: [String: String]) {
        open.append(name)
        value = nil
        switch (name, open.count) {
        case ("note", 2):
            note = MarkupRecord.Note(source: source)
            (content, tasks, problem) = ([], [], nil)
            noteStart = parser?.position ?? 0
        case ("resource", 3): resource = ("", "", nil)
        case ("task", 3): task = ("", false, "", "")
        case ("data", 4) where resource != nil: attempt { file = try EmbeddedFile(in: staging, limit: limit) }
        case ("content", 3): break
        default: if note != nil { value = [] }
        }
    }

    func add(_ text: UnsafeBufferPointer<UInt8>) {
        if file != nil {
            attempt { try file?.append(text) }
        } else if open.count == 3, open.last == "content" {
            content += text
            if content.count > Int(SourceLimits.documentBytes) {
                problem = SourceNote.Rejected.tooLarge(Int64(content.count), limit: SourceLimits.documentBytes)
                content = []
            }
        } else if let count = value?.count {
            if count + text.count <= EvernoteNotes.maximumValueBytes { value? += text } else { value = nil }
        }
    }

    func end(_ name: String) {
        let depth = open.count
        _ = open.popLast()
        let text =
            value.map { String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines) } ?? ""
        value = nil
        switch (name, depth) {
        case ("en-export", 1): isAtEnd = true
        case ("note", 2): endNote()
        case ("title", 3): note?.title = text
        case ("created", 3): note?.created = text
        case ("updated", 3): note?.updated = text
        case ("tag", 3): note?.tags.append(text)
        case ("title", 4): task?.title = text
        case ("taskStatus", 4): task?.isDone = text == "completed"
        case ("taskGroupNoteLevelID", 4): task?.group = text
        case ("sortWeight", 4): task?.order = text
        case ("task", 3):
            if let task { tasks.append(task) }
            task = nil
        case ("data", 4):
            attempt { resource?.file = try file?.finish() }
            file = nil
        case ("mime", 4): resource?.mimeType = text
        case ("file-name", 5): resource?.name = text
        case ("resource", 3): endResource()
        default: break
        }
    }

    private func endResource() {
        defer { resource = nil }
        guard let resource, let result = resource.file else { return }
        switch result {
        case .success(var file):
            (file.name, file.mimeType) = (resource.name, resource.mimeType)
            note?.files.append(file)
        case .failure(let rejected):
            note?.losses.append(.init(part: resource.name.isEmpty ? "a file" : resource.name, reason: rejected.reason))
        }
    }

    private func endNote() {
        guard var note else { return }
        self.note = nil
        let groups = Dictionary(grouping: tasks.sorted { $0.order < $1.order }, by: \.group)
            .mapValues { $0.map { "- [\($0.isDone ? "x" : " ")] \($0.title)" } }
        let pictures = EmbeddedPictures(in: staging, limit: limit)
        let converter = MarkdownConverter(tasks: groups, storeData: pictures.store)
        let parser = MarkupParser(.html(isUTF8: true), converter)
        content.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty, parser.problem == nil {
                parser.parse(UnsafeRawBufferPointer(rebasing: rest.prefix(64 << 10)))
                rest = rest.dropFirst(64 << 10)
            }
        }
        parser.finish()
        content = []
        note.text = converter.finish()
        note.files += pictures.files
        note.losses += pictures.losses
        if let error = pictures.failure { attempt { throw error } }
        if converter.encryptedCount > 0 {
            note.losses.append(
                .init(
                    part: "encrypted text",
                    reason: "It is encrypted. Decrypt it in Evernote, and export the note again."))
        }
        let tooLarge = converter.isTooLarge ? "Its text has more than \(MarkdownWriter.maximumBytes) bytes." : nil
        if let problem = problem ?? parser.problem ?? tooLarge {
            records.append(.skipped(source: source, title: note.title, reason: problem))
        } else {
            records.append(.note(note))
        }
    }
}

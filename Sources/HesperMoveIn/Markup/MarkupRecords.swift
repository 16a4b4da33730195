import Foundation
import HesperModel

/// Runs the parser of HTML and ENEX in another process.
public protocol MarkupRunner: Sendable {
    /// Calls ``MarkupTask/run(_:to:)`` in another process, with limited memory, and waits for its end.
    /// - Returns: nil if the process succeeded; otherwise a sentence that states how it ended.
    func run(_ task: MarkupTask, to output: FileHandle) throws -> String?
}

/// The arguments of the process that parses HTML and ENEX.
public struct MarkupTask: Sendable {
    /// The path of a file that contains the work, a ``MarkupWork``, as JSON.
    public let work: String
    /// The index of the first file to parse. The files before it are skipped.
    public let start: Int
    /// Throws an error if the process must not continue. The runner must call this function at intervals while the process runs.
    public let check: @Sendable () throws -> Void

    public init(work: String, start: Int, check: @escaping @Sendable () throws -> Void = {}) {
        (self.work, self.start, self.check) = (work, start, check)
    }

    /// Parses the files and writes the records as lines of JSON.
    public func run(to output: FileHandle) throws {
        let work = try JSONDecoder().decode(MarkupWork.self, from: Data(contentsOf: URL(filePath: work)))
        try work.run(from: start, to: output)
    }
}

/// The results of parsing the HTML and ENEX files of a source. The records are stored in a temporary file.
struct MarkupRecords: Sendable {
    private let path: String
    /// For each source file that has records, by its index: the byte position of its first record in the temporary file.
    private var offsets: [Int: UInt64] = [:]
    /// For each source file, by its index: the title of its note. If a file has several notes, this is the title of the last note.
    private(set) var titles: [Int: String] = [:]
    /// The titles of all notes.
    private(set) var allTitles: Set<String> = []
    private(set) var count = 0

    /// Parses the files in another process, and waits for the results.
    /// - Throws: ``MoveInError`` if the parser cannot be run.
    init(of files: [MarkupWork.File], _ limits: SourceLimits, _ runner: any MarkupRunner, in staging: Staging) throws {
        path = staging.path()
        guard !files.isEmpty else { return }
        let work = MarkupWork(files: files, staging: staging.folder, attachmentBytes: limits.attachmentBytes)
        let workPath = staging.path()
        try JSONEncoder().encode(work).write(to: URL(filePath: workPath))
        try Data().write(to: URL(filePath: path))
        let space = TemporarySpace(limits, in: staging)
        var start = 0
        while start < files.count {
            let output = try FileHandle(forWritingTo: URL(filePath: path))
            defer { try? output.close() }
            try output.seekToEnd()
            guard
                let failure = try runner.run(
                    MarkupTask(work: workPath, start: start) { try space.check() }, to: output)
            else { break }
            // The process has failed. Skip the file that it was reading, and start a new process with the next file.
            let broken = max(start, try endOfFiles())
            try output.seekToEnd()
            let record = MarkupRecord.skipped(source: broken, title: "", reason: failure)
            try output.write(contentsOf: Data("\n".utf8) + JSONEncoder().encode(record) + Data("\n".utf8))
            start = broken + 1
        }
        try index(limit: limits.entries)
    }

    /// The index of the file that follows the last one that was read to its end; 0 if no file was read to its end.
    private func endOfFiles() throws -> Int {
        var end = 0
        try forEachLine { _, record in if case .end(let source) = record { end = max(end, source + 1) } }
        return end
    }

    private mutating func index(limit: Int) throws {
        var copy = self
        try forEachLine { offset, record in
            switch record {
            case .note(let note):
                let title = note.title.isEmpty ? NoteTitle.of(note.text) : note.title
                if copy.offsets[note.source] == nil { copy.offsets[note.source] = offset }
                copy.titles[note.source] = title
                copy.allTitles.insert(title)
                copy.count += 1
            case .skipped(let source, _, _):
                if copy.offsets[source] == nil { copy.offsets[source] = offset }
                copy.count += 1
            case .end: break
            }
            guard copy.count <= limit else {
                throw SourceLimits(attachmentBytes: 0, entries: limit).tooManyEntries
            }
        }
        self = copy
    }

    /// The first record of a file; nil if there is none.
    func record(of source: Int) throws -> MarkupRecord? {
        guard let offset = offsets[source] else { return nil }
        var found: MarkupRecord?
        try forEachLine(from: offset, limit: 1) { _, record in found = record }
        return found
    }

    /// Passes all records to `body`, in the order of the files.
    func readEach(_ body: (MarkupRecord) async throws -> Void) async throws {
        guard count > 0 else { return }
        var lines = try LineReader(path, from: 0)
        while let (_, line) = try lines.next() {
            if let record = try? JSONDecoder().decode(MarkupRecord.self, from: line) { try await body(record) }
        }
    }

    private func forEachLine(
        from offset: UInt64 = 0, limit: Int = .max, _ body: (UInt64, MarkupRecord) throws -> Void
    ) throws {
        var lines = try LineReader(path, from: offset)
        var count = 0
        while count < limit, let (offset, line) = try lines.next() {
            // If a process was killed, the last line that it wrote may be incomplete. An incomplete line is skipped.
            guard let record = try? JSONDecoder().decode(MarkupRecord.self, from: line) else { continue }
            count += 1
            try body(offset, record)
        }
    }
}

/// Reads the lines of a file.
private struct LineReader {
    private let file: FileHandle
    private var buffer = Data()
    private var offset: UInt64
    private static let chunk = 256 << 10

    init(_ path: String, from offset: UInt64) throws {
        file = try FileHandle(forReadingFrom: URL(filePath: path))
        try file.seek(toOffset: offset)
        self.offset = offset
    }

    /// The next line that is not empty, and its position in the file; nil at the end of the file.
    mutating func next() throws -> (UInt64, Data)? {
        var searched = buffer.startIndex
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = buffer[..<end]
                let start = offset
                offset += UInt64(line.count + 1)
                buffer = buffer[(end + 1)...]
                if !line.isEmpty { return (start, Data(line)) }
                searched = buffer.startIndex
                continue
            }
            let count = buffer.count
            guard let more = try file.read(upToCount: LineReader.chunk), !more.isEmpty else { return nil }
            buffer = Data(buffer) + more
            searched = buffer.startIndex + count
        }
    }
}

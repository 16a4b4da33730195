import Foundation
import HesperModel
import Testing

@testable import HesperMoveIn

/// A source in `.build` for one test. Removed on deinitialization.
final class TestSource: Sendable {
    let url: URL

    init() throws {
        url = URL(filePath: #filePath).appending(path: "../../../.build/move-in-tests/\(UUID())").standardizedFileURL
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var path: String { url.path }

    /// The time of all files, unless another one is given: 2019-05-06T07:08:09Z.
    static let date = Date(timeIntervalSince1970: 1_557_126_489)

    @discardableResult
    func write(_ text: String, to name: String) throws -> String { try write(Data(text.utf8), to: name) }

    @discardableResult
    func write(_ data: Data, to name: String) throws -> String {
        let file = url.appending(path: name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
        try FileManager.default.setAttributes([.modificationDate: TestSource.date], ofItemAtPath: file.path)
        return file.path
    }

    /// Packs the folder into an archive beside it, with Python.
    func pack(_ format: String, as name: String) throws -> String {
        let archive = path + "-" + name
        let python = Process()
        python.executableURL = URL(filePath: "/usr/bin/python3")
        let program =
            "import shutil, sys, os; os.replace(shutil.make_archive(sys.argv[1], sys.argv[2], sys.argv[3]), sys.argv[1])"
        python.arguments = ["-c", program, archive, format, path]
        try python.run()
        python.waitUntilExit()
        #expect(python.terminationStatus == 0)
        return archive
    }

    /// Reads the folder, or a file in it.
    func read(_ name: String = "", attachmentBytes: Int64 = 1_000) async throws -> TestEntries {
        try await TestEntries(of: name.hasPrefix("/") ? name : path + "/" + name, attachmentBytes)
    }
}

/// Everything that a reader finds.
struct TestEntries {
    private(set) var notes: [SourceNote] = []
    private(set) var skipped: [String: String] = [:]
    private(set) var trashed = 0
    private(set) var ignored = 0

    init(
        of path: String, _ attachmentBytes: Int64, _ runner: any MarkupRunner = ParserInThisProcess()
    ) async throws {
        let source = try await MoveIn(path, SourceLimits(attachmentBytes: attachmentBytes), runner)
        var found: [SourceEntry] = []
        try await source.reader.read { found.append($0) }
        for entry in found {
            switch entry {
            case .note(let note): notes.append(note)
            case .skipped(let path, let reason): skipped[path] = skipped[path] ?? reason
            case .trashed: trashed += 1
            case .ignored(let count): ignored += count
            }
        }
    }

    var texts: [String] { notes.map(\.text) }

    /// The note with a title.
    func note(_ title: String) throws -> SourceNote {
        try #require(notes.first { NoteTitle.of($0.text) == title }, "\(texts)")
    }
}

/// Runs the parser in the process of the tests. `Tests/BlackBox/command/test_move_in.py` runs it in a process of its own.
struct ParserInThisProcess: MarkupRunner {
    func run(_ task: MarkupTask, to output: FileHandle) throws -> String? {
        try task.run(to: output)
        return nil
    }
}

extension SourceNote {
    /// The text, in which the IDs of attachments are replaced with their names.
    var readable: String {
        attachments.reduce(text) {
            $0.replacingOccurrences(of: "attachment:\($1.uniqueID)", with: "attachment:\($1.filename)")
        }
    }

    var files: [String] { attachments.map { "\($0.filename) \($0.mimeType) \($0.byteCount)" } }
}

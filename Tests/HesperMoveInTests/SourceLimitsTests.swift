import Foundation
import HesperArchive
import Testing

@testable import HesperMoveIn

/// Limits of sources that a server reads, and sources whose files do not belong together.
@Suite struct SourceLimitsTests {
    private func open(_ path: String, _ limits: SourceLimits, isLoose: Bool = false) async throws -> [SourceEntry] {
        let source = try await MoveIn(path, limits, isLoose: isLoose, ParserInThisProcess())
        var found: [SourceEntry] = []
        try await source.reader.read { found.append($0) }
        return found
    }

    private func zip(_ files: [String: String], as name: String = "a.zip") throws -> String {
        let source = try TestSource()
        for (name, text) in files { try source.write(text, to: name) }
        return try source.pack("zip", as: name)
    }

    @Test func filesAreLimited() async throws {
        let path = try zip(["a.md": "a", "b.md": "b", "c.md": "c"])
        #expect(try await open(path, SourceLimits(attachmentBytes: 9, entries: 3)).count == 4)
        await #expect(throws: SourceLimits(attachmentBytes: 9, entries: 2).tooManyEntries) {
            try await open(path, SourceLimits(attachmentBytes: 9, entries: 2))
        }
        #expect(try !ZipReader.hasMoreEntries(than: 3, in: path))
        #expect(try ZipReader.hasMoreEntries(than: 2, in: path))
        let tar = try TestSource()
        for name in ["a.md", "b.md", "c.md"] { try tar.write("x", to: name) }
        let packed = try tar.pack("tar", as: "a.tar")
        await #expect(throws: MoveInError.self) {
            try await open(packed, SourceLimits(attachmentBytes: 9, entries: 2))
        }
    }

    @Test func notesAreLimited() async throws {
        let source = try TestSource()
        let notes = (0..<3).map { #"{"id": "\#($0)", "content": "x"}"# }.joined(separator: ",")
        let simplenote = try source.write(#"{"activeNotes": [\#(notes)], "trashedNotes": []}"#, to: "notes.json")
        let note = "<note><title>A</title><content><![CDATA[<en-note>x</en-note>]]></content></note>"
        let evernote = try source.write(
            "<en-export>\(String(repeating: note, count: 3))</en-export>", to: "a.enex")
        for path in [simplenote, evernote] {
            let found = try await open(path, SourceLimits(attachmentBytes: 9, entries: 3))
            #expect(found.count { if case .note = $0 { true } else { false } } == 3)
            await #expect(throws: SourceLimits(attachmentBytes: 9, entries: 2).tooManyEntries) {
                try await open(path, SourceLimits(attachmentBytes: 9, entries: 2))
            }
        }
    }

    @Test func unpackedBytes() async throws {
        let path = try zip(["a.md": String(repeating: "a", count: 500), "b.md": String(repeating: "b", count: 501)])
        #expect(try await open(path, SourceLimits(attachmentBytes: 9, temporaryBytes: 1_001)).count == 3)
        await #expect(throws: MoveInError.self) {
            try await open(path, SourceLimits(attachmentBytes: 9, temporaryBytes: 1_000))
        }
    }

    @Test func freeSpace() async throws {
        let path = try zip(["a.md": "a"])
        await #expect(throws: MoveInError.self) {
            try await open(path, SourceLimits(attachmentBytes: 9, freeBytes: 1 << 60))
        }
    }

    @Test func temporaryFilesAreInTheGivenFolder() async throws {
        let folder = try TestSource()
        let limits = SourceLimits(attachmentBytes: 9, temporaryFolder: folder.path)
        let source = try await MoveIn(try zip(["a.md": "a"]), limits, ParserInThisProcess())
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
        withExtendedLifetime(source) {}
    }

    @Test func looseFilesAreIdentifiedByNameAndText() async throws {
        func ids(_ files: [String: String], isLoose: Bool) async throws -> [String: String] {
            let found = try await open(
                try zip(files, as: "\(UUID()).zip"), SourceLimits(attachmentBytes: 9), isLoose: isLoose)
            var ids: [String: String] = [:]
            for case .note(let note) in found { ids[note.path] = note.uniqueID.description }
            return ids
        }
        let first = try await ids(["a.md": "one", "b.md": "two"], isLoose: true)
        let second = try await ids(["a.md": "another", "b.md": "two"], isLoose: true)
        #expect(first["b.md"] == second["b.md"])
        #expect(first["a.md"] != second["a.md"])
        #expect(try await ids(["b.md": "two"], isLoose: false)["b.md"] != first["b.md"])
        // A single file is the same note as in such an archive.
        let source = try TestSource()
        let path = try source.write("two", to: "b.md")
        guard case .note(let note)? = try await open(path, SourceLimits(attachmentBytes: 9)).first else {
            Issue.record("no note")
            return
        }
        #expect(note.uniqueID.description == first["b.md"])
    }
}

import Foundation
import HesperModel
import HesperStore
import NIOCore
import Testing

@testable import HesperArchive

/// Exports of an account: files of notes and attachments, and `hesper.json`.
@Suite struct ExportTests {
    @Test func exportContainsEverything() async throws {
        let home = try await TestAccount()
        let milk = try await home.note("# Milk\nBread é 日本", at: 60, (.custom("pinned"), .bool(true)))
        let old = try await home.note("Milk", at: 120, (.archived, .bool(true)))
        let twin = try await home.note("MILK\n", at: 180)
        let gone = try await home.note("gone")
        try await home.push([.deletion(Deletion(uniqueID: gone, objectType: .note))])
        let picture = try await home.attachment([0x89, 0x50, 0, 0xff], "Rome.png", "image/png")
        let list = try await home.attachment(Array("a,b\n".utf8), nil, "text/csv")

        let (report, files, entries) = try await home.exported()
        #expect(report == ExportReport(notes: 3, attachments: 2, missing: []))
        #expect(
            entries.map(\.path) == [
                "Milk.md", "Archive/Milk.md", "MILK 2.md", "Attachments/Rome.png", "Attachments/\(list).csv",
                "hesper.json",
            ])
        #expect(files["Milk.md"] == Array("# Milk\nBread é 日本".utf8))
        #expect(files["Archive/Milk.md"] == Array("Milk".utf8))
        #expect(files["MILK 2.md"] == Array("MILK\n".utf8))
        #expect(files["Attachments/Rome.png"] == [0x89, 0x50, 0, 0xff])
        #expect(files["Attachments/\(list).csv"] == Array("a,b\n".utf8))
        // The modification time of a file is that of the text.
        #expect(entries[0].date.description == "2026-01-01T00:01:00.000Z")
        #expect(entries[3].date.description == "2026-01-01T00:00:00.000Z")

        let document = try JSONReader.read(try #require(files["hesper.json"]))
        #expect(try document.member("format") == "hesper-export")
        #expect(try document.member("formatVersion") == 1)
        #expect(try document.member("missing") == [])
        let scope = home.scope
        let head = try await home.store.read { try $0.head(of: scope) }
        #expect(try document.member("digest").text == head?.digest.description)
        let names: [UniqueID: JSON] = [
            milk: "Milk.md", old: "Archive/Milk.md", twin: "MILK 2.md", picture: "Attachments/Rome.png",
            list: .string("Attachments/\(list).csv"),
        ]
        for (id, name) in names { #expect(try document.member("files")[id.description] == name) }
        #expect(
            try document.member("deletedObjects").elements.compactMap { $0["uniqueID"]?.text } == [gone.description])
    }

    /// `hesper.json` contains the same bytes that sync sends.
    @Test func objectsAreInTheFormatOfSync() async throws {
        let home = try await TestAccount()
        let id = try await home.note("Milk", at: 60, (.tag(.random()), .bool(false)), (.custom("n"), .number(0.1)))
        let (_, files, _) = try await home.exported()
        let body = try await home.store.read { [scope = home.scope] snapshot in
            guard case .entity(let entity, _)? = try snapshot.state(of: id, in: scope) else { return [UInt8]() }
            return entity.body
        }
        let document = String(decoding: try #require(files["hesper.json"]), as: UTF8.self)
        #expect(document.contains("\"notes\":[\(String(decoding: body, as: UTF8.self))]"))
    }

    @Test func marksAreThoseOfTheWebApp() throws {
        let file = URL(filePath: #filePath).appending(path: "../../Vectors/marks.json").standardizedFileURL
        let cases = try JSONReader.read(Array(try Data(contentsOf: file))).elements
        #expect(cases.count > 20)
        let known = UniqueID("c9a646d3-9c61-4cb7-bfcd-ee2522c8f633")
        for each in cases {
            let text = try #require(each["text"]?.text)
            let exported = AttachmentMark.rewrite(Array(text.utf8)) {
                $0 == known ? AttachmentMark.target(of: "Attachments/Rome 2.png") : nil
            }
            #expect(String(decoding: exported, as: UTF8.self) == each["exported"]?.text)
            #expect(AttachmentMark.removeAll(from: text) == each["plain"]?.text)
        }
    }

    /// Marks become paths in the files of notes, and stay as they are in `hesper.json`.
    @Test func picturesInTextsBecomePaths() async throws {
        let home = try await TestAccount()
        let picture = try await home.attachment([0x89, 0x50], "Villa (2) é.png", "image/png")
        let unknown = UniqueID.random()
        // A device uploaded a deleted attachment again, under an ID that is derived from the deleted one and the note.
        let deleted = UniqueID.random()
        let text = "![A \\] b](attachment:\(picture) \"t)\")\n![](attachment:\(unknown)) \\![](attachment:\(picture))"
        let id = try await home.note("Rome\n" + text, at: 60)
        let old = try await home.note("![](attachment:\(picture))\nNaples", at: 120, (.archived, .bool(true)))
        let copied = try await home.note("Copied ![B](attachment:\(deleted))", at: 180)
        let again = UniqueID.derived(from: copied.description, in: deleted)
        try await home.attachment([1], "again.png", "image/png", again)

        let (report, files, _) = try await home.exported()
        #expect(report.missing.isEmpty)
        let path = "Attachments/Villa%20%282%29%20é.png"
        let rewritten = "Rome\n![A \\] b](\(path) \"t)\")\n![](attachment:\(unknown)) \\![](attachment:\(picture))"
        #expect(String(decoding: try #require(files["Rome.md"]), as: UTF8.self) == rewritten)
        #expect(String(decoding: try #require(files["Archive/Naples.md"]), as: UTF8.self) == "![](../\(path))\nNaples")
        #expect(
            String(decoding: try #require(files["Copied B.md"]), as: UTF8.self) == "Copied ![B](Attachments/again.png)")
        #expect(files["Attachments/Villa (2) é.png"] == [0x89, 0x50])
        let document = try JSONReader.read(try #require(files["hesper.json"]))
        let texts = try document.member("notes").elements.compactMap { $0["text"]?.text }
        #expect(texts.contains("Rome\n" + text))
        #expect(try document.member("files")[old.description] == "Archive/Naples.md")
        #expect(try document.member("files")[id.description] == "Rome.md")
    }

    @Test func emptyAccountIsExported() async throws {
        let (report, files, _) = try await TestAccount().exported()
        #expect(report == ExportReport())
        #expect(Array(files.keys) == ["hesper.json"])
    }

    @Test func emptyNotesAndAttachmentsAreExported() async throws {
        let home = try await TestAccount()
        try await home.note("")
        try await home.attachment([], "empty.txt", "text/plain")
        let (_, files, _) = try await home.exported()
        #expect(files["Untitled.md"] == [])
        #expect(files["Attachments/empty.txt"] == [])
    }

    @Test func laterChangesAreNotExported() async throws {
        let home = try await TestAccount()
        for index in 0..<2_000 { try await home.note("Note \(index)\n" + String(repeating: "\(index) ", count: 200)) }
        let export = try await Export(of: home.scope, store: home.store, blobs: home.blobs, date: TestAccount.now)
        #expect(export.fileCount == 2_000)
        var pieces = 0
        let report = try await export.write { piece in
            if pieces == 0 { try await home.note("late") }
            pieces += 1
            // Pieces are small, regardless of the size of the archive.
            #expect(piece.readableBytes < 2 << 20)
        }
        #expect(report.notes == 2_000)
        #expect(pieces > 2)
    }

    // MARK: Missing data

    @Test func missingAndDamagedAttachmentsAreReported() async throws {
        let home = try await TestAccount()
        let lost = try await home.attachment([1, 2, 3], "lost.png", "image/png")
        let damaged = try await home.attachment([1, 2, 3], "damaged.png", "image/png")
        let short = try await home.attachment(Array(repeating: 7, count: 700_000), "short.png", "image/png")
        let good = try await home.attachment([4], "good.png", "image/png")
        func path(_ id: UniqueID) async throws -> String {
            home.folder.path + "/blobs/" + (try #require(try await home.blob(of: id))).name.path
        }
        try FileManager.default.removeItem(atPath: try await path(lost))
        try Data([1, 2, 4]).write(to: URL(filePath: try await path(damaged)))
        try Data(repeating: 7, count: 300_000).write(to: URL(filePath: try await path(short)))

        let (report, files, _) = try await home.exported()
        #expect(report.attachments == 1)
        #expect(Set(report.missing.map(\.uniqueID)) == [lost, damaged, short])
        let text = String(decoding: try #require(files["MISSING.txt"]), as: UTF8.self)
        #expect(text.contains("Attachment \(lost) (lost.png) is missing"))
        #expect(text.contains("Attachment \(damaged) (damaged.png) is damaged. Attachments/damaged.png differs"))
        #expect(text.contains("Attachment \(short) (short.png) is damaged"))
        #expect(!text.contains("\(good)"))
        #expect(files["Attachments/lost.png"] == nil)
        #expect(files["Attachments/short.png"]?.count == 700_000)
        let document = try JSONReader.read(try #require(files["hesper.json"]))
        #expect(
            Set(try document.member("missing").elements.compactMap(\.text))
                == Set([lost, damaged, short].map(\.description)))
        #expect(try document.member("files")[lost.description] == nil)
        #expect(try document.member("attachments").elements.count == 4)
    }

    @Test func errorOfTheReceiverEndsTheExport() async throws {
        struct Disconnected: Error {}
        let home = try await TestAccount()
        try await home.attachment(Array(repeating: 7, count: 3_000_000), "a.png", "image/png")
        let export = try await Export(of: home.scope, store: home.store, blobs: home.blobs, date: TestAccount.now)
        var count = 0
        await #expect(throws: Disconnected.self) {
            _ = try await export.write { piece in
                count += piece.readableBytes
                if count > 1_000_000 { throw Disconnected() }
            }
        }
        #expect(count < 1_600_000)
    }
}

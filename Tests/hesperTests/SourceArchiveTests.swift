import Foundation
import HesperArchive
import HesperModel
import HesperStore
import Testing

@testable import HesperImport
@testable import hesper

/// Zips of text files, made by users or by an attacker.
@Suite struct SourceArchiveTests {
    private let folder = TemporaryFolder()

    private func zip(_ script: String, as name: String = "Notes.zip") throws -> String {
        let path = folder.path + "/" + name
        try Zip.make(path, script)
        return path
    }

    @Test func zipIsImportedLikeTheFolder() async throws {
        let home = try await TestAccount()
        try folder.write("# Paris\n", to: "Notes/Travel/paris.md")
        try folder.write("plain", to: "Notes/plain.txt")
        let path = try zip(
            "z.writestr(i('Notes/Travel/paris.md'), '# Paris\\n')\nz.writestr(i('Notes/plain.txt'), 'plain')\n"
                + "z.writestr(i('Notes/picture.png'), 'png')\nz.writestr(i('__MACOSX/Notes/._plain.txt'), 'x')\n"
                + "z.writestr(i('Notes/.hidden.md'), 'x')\nz.writestr(i('Notes/empty.md'), '')", as: "old notes.zip")
        #expect(try await home.importArchive(path) == ImportReport(new: 2, tags: 1, ignored: 4))
        let notes = try await home.notes()
        #expect(notes.map(\.text) == ["# Paris\n", "plain"])
        #expect(try await home.tagNames(of: notes[0]) == ["Travel"])
        #expect(notes[0].creationDate?.description.hasPrefix("2020-02-03T04:05:06") == true)
        #expect(try await home.importArchive(path) == ImportReport(unchanged: 2, ignored: 4))
        #expect(try await home.importFolder(folder.path + "/Notes") == ImportReport(unchanged: 2))
        #expect(try await home.findings() == [])
    }

    @Test func namesAreNormalized() async throws {
        let home = try await TestAccount()
        let path = try zip(
            "z.writestr(i('Caf\\u00e9/a.md'), 'a')\nz.writestr(i('Cafe\\u0301/b.md'), 'b')\nz.writestr(i('日本/c.md'), 'c')\n"
                + "z.writestr(i('Win\\\\dows\\\\d.md'), 'd')")
        #expect(try await home.importArchive(path).new == 4)
        let notes = try await home.notes()
        var names: [Set<String>] = []
        for note in notes { names.append(try await home.tagNames(of: note)) }
        #expect(names == [["Caf\u{e9}"], ["Caf\u{e9}"], ["日本"], ["Win", "dows"]])
    }

    @Test func pathsOutsideTheArchiveAreSkipped() async throws {
        let home = try await TestAccount()
        let path = try zip(
            "for n in ['../up.md', '/etc/abs.md', 'a/../../b.md', '..\\\\w.md', 'good.md', 'a//b.md']: z.writestr(i(n), n)"
        )
        let report = try await home.importArchive(path)
        #expect(report.new == 1)
        #expect(Set(report.skipped.map(\.path)) == ["../up.md", "/etc/abs.md", "a/../../b.md", "../w.md", "a//b.md"])
        #expect(Set(report.skipped.map(\.reason)) == ["Its path in the archive is invalid."])
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/../up.md"))
    }

    @Test func linksAndFoldersAreIgnored() async throws {
        let home = try await TestAccount()
        let path = try zip(
            "l = i('link.md'); l.create_system = 3; l.external_attr = 0o120777 << 16; z.writestr(l, '/etc/passwd')\n"
                + "z.writestr(i('folder.md/'), '')\nz.writestr(i('a.md'), 'a')")
        #expect(try await home.importArchive(path) == ImportReport(new: 1))
    }

    // MARK: Invalid archives

    @Test func zipBombsAreSkipped() async throws {
        let home = try await TestAccount()
        // 300 MB of zeros each. The second has no size in its header.
        let path = try zip(
            "import os\nz.writestr(i('big.md'), bytes(300_000_000))\n"
                + "with z.open('stream.md', 'w', force_zip64=True) as f:\n    [f.write(bytes(1_000_000)) for _ in range(300)]\n"
                + "z.writestr(i('small.md'), 'small')")
        let report = try await home.importArchive(path)
        #expect(report.new == 1)
        #expect(report.skipped.map(\.path) == ["big.md", "stream.md"])
        #expect(report.skipped.allSatisfy { $0.reason.contains("bytes") })
    }

    /// Each file is small enough for a note. Together they exceed what a zip of this size can contain.
    @Test func implausibleTotalSizeIsRefused() async throws {
        let home = try await TestAccount()
        let path = try zip("for n in range(100): z.writestr(i(f'{n}.md'), b'a' * 1_000_000, zipfile.ZIP_BZIP2)")
        let error = await #expect(throws: ArchiveError.self) { try await home.importArchive(path) }
        #expect(error?.message == "\(path) unpacks to more data than a zip file of its size can contain (zip bomb).")
        #expect(try await home.notes().isEmpty)
    }

    @Test func damagedArchivesAreRefused() async throws {
        let home = try await TestAccount()
        let path = try zip("z.writestr(i('a.md'), 'a' * 1000 + 'b' * 1000)\nz.writestr(i('c.md'), 'c')")
        let bytes = try Data(contentsOf: URL(filePath: path))
        for length in [4, 40, bytes.count / 2, bytes.count - 10] {
            try bytes.prefix(length).write(to: URL(filePath: path))
            #expect(ZipReader.isZip(path))
            await #expect(throws: ArchiveError.self, "truncated to \(length)") { try await home.importArchive(path) }
        }
        var damaged = bytes
        damaged[40] ^= 0xff
        try damaged.write(to: URL(filePath: path))
        let report = try await home.importArchive(path)
        #expect(report.skipped == [.init(path: "a.md", reason: "It is damaged.")])
        #expect(try await home.notes().map(\.text) == ["c"])
    }

    @Test func encryptedArchivesAreRefused() async throws {
        let home = try await TestAccount()
        let path = try zip("z.writestr(i('a.md'), 'a')")
        var bytes = try Data(contentsOf: URL(filePath: path))
        // The flag is in the header of the file and in the central directory.
        bytes[6] |= 1
        let list = try #require(bytes.firstRange(of: [0x50, 0x4b, 1, 2]))
        bytes[list.lowerBound + 8] |= 1
        try bytes.write(to: URL(filePath: path))
        await #expect(throws: ArchiveError("\(path) is encrypted. Unpack it and import the folder.")) {
            try await home.importArchive(path)
        }
    }

    @Test(arguments: ["", "PK", "no zip", "PK\u{3}", "Rar!"]) func otherFilesAreNotZips(_ text: String) throws {
        #expect(!ZipReader.isZip(try folder.write(text, to: "a.zip")))
    }

    /// A settings file of a server has the same name as the document of an export.
    @Test func settingsFileIsNotAnExport() async throws {
        let home = try await TestAccount()
        let path = try zip("z.writestr(i('hesper.json'), '{\"port\": 8080}')\nz.writestr(i('a.md'), 'a')")
        #expect(try await home.importArchive(path) == ImportReport(new: 1, ignored: 1))
        let empty = try zip("pass", as: "empty.zip")
        #expect(ZipReader.isZip(empty))
        await #expect(throws: ArchiveError("\(empty) is an empty zip.")) { try await home.importArchive(empty) }
    }
}

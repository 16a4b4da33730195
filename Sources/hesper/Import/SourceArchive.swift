import Foundation
import HesperArchive
import HesperModel

/// A zip of texts that somebody has packed, as an import finds it: the folder that it was.
struct SourceArchive: TextSource {
    /// That of the one folder that all is in; else the archive's own, without its ending.
    let name: String
    /// In the order in which they lie in the archive.
    private(set) var files: [SourceFile] = []
    private(set) var passedOver = 0
    private(set) var unreadable: [(path: String, reason: String)] = []
    private let zip: ZipReader

    /// Looks through an archive. Nothing of it is written to the disk: its paths lead nowhere, whatever they say.
    /// - Throws: ``ArchiveError`` if it is broken or encrypted.
    init(_ path: String) throws {
        var entries: [ZipReader.Entry] = []
        let list = try ZipReader(path)
        while let entry = try list.next() { entries.append(entry) }
        zip = try ZipReader(path)
        let folders = Set(
            entries.map { SourceArchive.parts(of: $0.path) }.filter { !SourceArchive.isHidden($0) }
                .map { $0.count > 1 ? $0[0] : "" })
        let isOneFolder = folders.count == 1 && folders != [""] && folders != [".."]
        let file = URL(filePath: path).deletingPathExtension().lastPathComponent
        name = isOneFolder ? folders.first ?? file : file
        for entry in entries { add(entry, leavingOut: isOneFolder ? 1 : 0) }
    }

    private mutating func add(_ entry: ZipReader.Entry, leavingOut count: Int) {
        let parts = SourceArchive.parts(of: entry.path)
        guard !SourceArchive.isHidden(parts), let name = parts.last, TextFile.isText(name), entry.byteCount != 0 else {
            passedOver += 1
            return
        }
        guard !parts.contains(where: { $0.isEmpty || $0 == ".." }) else {
            unreadable.append((entry.path, "Its path leads out of the archive."))
            return
        }
        files.append(
            SourceFile(
                path: entry.path, folders: Array(parts.dropFirst(count).dropLast()), name: name,
                byteCount: Int(clamping: entry.byteCount ?? 0), creation: entry.date, modification: entry.date))
    }

    /// Some packers of Windows write its own separators.
    private static func parts(of path: String) -> [String] {
        let separator: Character = path.contains("/") ? "/" : "\\"
        return path.split(separator: separator, omittingEmptySubsequences: false).filter { $0 != "." }.map(String.init)
    }

    /// Hidden files and folders, and what macOS adds to an archive for itself.
    private static func isHidden(_ parts: [String]) -> Bool {
        parts.contains { $0.hasPrefix(".") && $0 != ".." } || parts.first == "__MACOSX"
    }

    mutating func bytes(of file: SourceFile) throws -> Data {
        while let entry = try zip.next() {
            guard entry.path == file.path else { continue }
            guard let bytes = try zip.readAll(limit: SourceFile.greatest) else {
                throw SourceFile.Unusable(reason: "It has more than \(Limits.textBytes) bytes, which no note has.")
            }
            return Data(bytes)
        }
        throw ArchiveError("\(file.path) is listed in the archive, and is not there.")
    }
}

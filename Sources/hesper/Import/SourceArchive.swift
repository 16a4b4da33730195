import Foundation
import HesperArchive
import HesperModel

/// A zip of text files. It is imported like the folder that was packed.
struct SourceArchive: TextSource {
    /// The name of the single top-level folder. If there is none, the name of the archive without its extension.
    let name: String
    /// In archive order.
    private(set) var files: [SourceFile] = []
    private(set) var ignored = 0
    private(set) var unreadable: [(path: String, reason: String)] = []
    private let zip: ZipReader

    /// Reads the list of files. No file is written to disk, so paths in the archive cannot cause harm.
    /// - Throws: ``ArchiveError`` if the archive is damaged or encrypted.
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
        for entry in entries { add(entry, removingFolders: isOneFolder ? 1 : 0) }
    }

    private mutating func add(_ entry: ZipReader.Entry, removingFolders count: Int) {
        let parts = SourceArchive.parts(of: entry.path)
        guard !SourceArchive.isHidden(parts), let name = parts.last, TextFile.isText(name), entry.byteCount != 0 else {
            ignored += 1
            return
        }
        guard !parts.contains(where: { $0.isEmpty || $0 == ".." }) else {
            unreadable.append((entry.path, "Its path is outside the archive."))
            return
        }
        files.append(
            SourceFile(
                path: entry.path, folders: Array(parts.dropFirst(count).dropLast()), name: name,
                byteCount: Int(clamping: entry.byteCount ?? 0), creation: entry.date, modification: entry.date))
    }

    /// Some Windows programs use backslashes as separators.
    private static func parts(of path: String) -> [String] {
        let separator: Character = path.contains("/") ? "/" : "\\"
        return path.split(separator: separator, omittingEmptySubsequences: false).filter { $0 != "." }.map(String.init)
    }

    /// Whether the file is hidden, or metadata added by macOS.
    private static func isHidden(_ parts: [String]) -> Bool {
        parts.contains { $0.hasPrefix(".") && $0 != ".." } || parts.first == "__MACOSX"
    }

    mutating func bytes(of file: SourceFile) throws -> Data {
        while let entry = try zip.next() {
            guard entry.path == file.path else { continue }
            guard let bytes = try zip.readAll(limit: SourceFile.maximumBytes) else {
                throw SourceFile.Rejected(reason: "It has more than \(Limits.textBytes) bytes.")
            }
            return Data(bytes)
        }
        throw ArchiveError("The archive lists \(file.path) but does not contain it.")
    }
}

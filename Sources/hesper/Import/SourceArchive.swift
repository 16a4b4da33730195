import Foundation
import HesperArchive
import HesperModel

/// A zip of text files. It is imported like the folder from which it was made.
struct SourceArchive: TextSource {
    /// The name of the folder that contains all files. If there is no such folder, the name of the archive without its
    /// extension.
    let name: String
    /// The text files in the archive, in its order.
    private(set) var files: [SourceFile] = []
    private(set) var ignored = 0
    private(set) var unreadable: [(path: String, reason: String)] = []
    private let zip: ZipReader

    /// Reads the list of files. Paths in the archive cannot cause harm, because no file is written to disk.
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

    /// The components of a path. Some Windows programs separate them with backslashes.
    private static func parts(of path: String) -> [String] {
        let separator: Character = path.contains("/") ? "/" : "\\"
        return path.split(separator: separator, omittingEmptySubsequences: false).filter { $0 != "." }.map(String.init)
    }

    /// Whether a file is hidden, or is metadata that macOS added.
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

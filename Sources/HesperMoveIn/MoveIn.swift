import Foundation
import HesperArchive
import HesperModel

/// A source of an import: notes exported from another app, or a folder of texts. The format is recognized by the contents.
///
///     let source = try await MoveIn("Takeout.zip", SourceLimits(attachmentBytes: 100 << 20), runner)
///     try await source.reader.read { entry in … }
public struct MoveIn: Sendable {
    /// The name of the source, for messages.
    public let name: String
    public let reader: any SourceReader

    /// Opens a source. An archive is unpacked into a temporary folder, which is removed when the last reference to the source is
    /// released.
    /// - Parameters:
    ///   - path: the path of a folder, an archive or a file.
    ///   - isLoose: whether the files in an archive do not belong together. A text is then identified by its name and its contents.
    ///   - runner: runs the parser of HTML and ENEX in another process.
    /// - Throws: ``MoveInError`` if the source cannot be read or its format is unknown; ``ArchiveError`` if the source is a damaged
    ///   archive.
    public init(
        _ path: String, _ limits: SourceLimits, isLoose: Bool = false, _ runner: any MarkupRunner
    ) async throws {
        let source = try MoveIn.files(path, limits, isLoose: isLoose)
        name = source.name
        if let reader = try await Simplenote(source, limits) {
            self.reader = reader
        } else if let reader = try await StandardNotes(source, limits) {
            self.reader = reader
        } else if let reader = Keep(source, limits) {
            self.reader = reader
        } else if let reader = try Joplin(source, limits, runner) {
            self.reader = reader
        } else if source.files.contains(where: Evernote.isEvernote) {
            let notebooks = try Evernote(source.files.filter(Evernote.isEvernote), limits, runner)
            let others = try MarkdownFolder(source.without(Evernote.isEvernote), limits, runner)
            reader = SeveralReaders(readers: [notebooks, others])
        } else if source.isSingleFile, source.files.allSatisfy({ !MarkdownFolder.isNote($0) }) {
            throw MoveInError(
                "\(path) must be a folder, a zip file, a text file, or a file that another app exported.",
                isUsage: true)
        } else {
            reader = try MarkdownFolder(source, limits, runner)
        }
    }

    private static func files(_ path: String, _ limits: SourceLimits, isLoose: Bool) throws -> SourceFiles {
        var isFolder: ObjCBool = false
        if let format = ZipReader.Format(of: path) {
            return try SourceFiles(archive: path, format, limits, isLoose: isLoose, in: try Staging(limits))
        }
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue {
            return try SourceFiles(file: path)
        }
        return try SourceFiles(folder: path)
    }
}

/// Reads several sources one after another.
private struct SeveralReaders: SourceReader {
    let readers: [any SourceReader]

    var count: Int { readers.reduce(0) { $0 + $1.count } }

    func read(_ body: (SourceEntry) async throws -> Void) async throws {
        for reader in readers { try await reader.read(body) }
    }
}

import Foundation
import HesperArchive
import HesperModel

/// Reads a JSON file from an export. It reads one value at a time, so that memory use does not depend on the size of the file.
struct JSONFile {
    private let file: SourceFile

    init(_ file: SourceFile) { self.file = file }

    /// Passes each value of the document and its location to `body`, as ``DocumentReader`` does.
    /// - Throws: ``SourceNote/Rejected`` if the document cannot be read to its end.
    func readEach(
        _ body: (DocumentReader.Location, Result<JSON, Problem>) async throws -> Void
    ) async throws {
        if let problem = file.problem { throw SourceNote.Rejected(reason: problem) }
        guard let handle = FileHandle(forReadingAtPath: file.location) else {
            throw SourceNote.Rejected(reason: "Cannot read it.")
        }
        defer { try? handle.close() }
        var isBeginning = true
        var reader = DocumentReader(name: file.name) {
            guard var bytes = try handle.read(upToCount: 256 << 10), !bytes.isEmpty else { return nil }
            if isBeginning, bytes.starts(with: SourceLimits.byteOrderMark) {
                bytes = bytes.dropFirst(SourceLimits.byteOrderMark.count)
            }
            isBeginning = false
            return Array(bytes)
        }
        do {
            try await reader.readEach(body)
        } catch let problem as Problem {
            throw SourceNote.Rejected(reason: problem.detail)
        }
    }

    /// Passes the values of the document to `body`. If the rest of the document cannot be read, stops without an error.
    func readBeginning(
        _ body: (DocumentReader.Location, Result<JSON, Problem>) async throws -> Void
    ) async throws {
        do {
            try await readEach(body)
        } catch is SourceNote.Rejected {}
    }

    /// Whether the file begins with a JSON object in which a member with one of these names is near the beginning of the file.
    func begins(with names: String...) -> Bool {
        let text = String(decoding: file.beginning(4_096), as: UTF8.self)
        let content = text.drop { $0.isWhitespace || $0 == "\u{feff}" }
        return content.first == "{" && names.contains { content.contains("\"\($0)\"") }
    }
}

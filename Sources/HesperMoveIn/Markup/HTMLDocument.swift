import Foundation

/// Reads one HTML file as a note.
struct HTMLDocument {
    private let source: Int
    private let staging: String
    private let limit: Int64

    init(_ source: Int, _ staging: String, _ limit: Int64) {
        (self.source, self.staging, self.limit) = (source, staging, limit)
    }

    func read(_ path: String, _ write: (MarkupRecord) throws -> Void) throws {
        let data = try Data(contentsOf: URL(filePath: path), options: .mappedIfSafe)
        var note = MarkupRecord.Note(source: source)
        var failure: (any Error)?
        let converter = MarkdownConverter { url in
            do {
                switch try EmbeddedFile.storing(url, in: staging, limit: limit) {
                case .success(let file)?:
                    note.files.append(file)
                    return MarkdownConverter.resourceScheme + file.md5
                case .failure(let rejected)?: note.losses.append(.init(part: "a picture", reason: rejected.reason))
                case nil: break
                }
            } catch {
                failure = error
            }
            return nil
        }
        let isUTF8 = data.withUnsafeBytes { String(validating: $0, as: UTF8.self) != nil }
        let parser = MarkupParser(.html(isUTF8: isUTF8), converter)
        var rest = data[...]
        while !rest.isEmpty, parser.problem == nil, failure == nil {
            rest.prefix(64 << 10).withUnsafeBytes { parser.parse($0) }
            rest = rest.dropFirst(64 << 10)
        }
        parser.finish()
        if let failure { throw failure }
        note.text = converter.finish()
        note.title = converter.title.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        if let problem = parser.problem {
            try write(.skipped(source: source, title: "", reason: problem))
        } else if converter.isTooLarge {
            try write(
                .skipped(
                    source: source, title: "", reason: "Its text has more than \(MarkdownWriter.maximumBytes) bytes."))
        } else {
            try write(.note(note))
        }
    }
}

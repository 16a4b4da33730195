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
        let pictures = EmbeddedPictures(in: staging, limit: limit)
        let converter = MarkdownConverter(storeData: pictures.store)
        let isUTF8 = data.withUnsafeBytes { String(validating: $0, as: UTF8.self) != nil }
        let parser = MarkupParser(.html(isUTF8: isUTF8), converter)
        var rest = data[...]
        while !rest.isEmpty, parser.problem == nil, pictures.failure == nil {
            rest.prefix(64 << 10).withUnsafeBytes { parser.parse($0) }
            rest = rest.dropFirst(64 << 10)
        }
        parser.finish()
        if let failure = pictures.failure { throw failure }
        (note.files, note.losses) = (pictures.files, pictures.losses)
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

import Crypto
import Foundation
import HesperModel

/// A file of a source. Its contents are read when they are needed.
struct SourceFile: Sendable {
    /// The path of the file, relative to the source. Its components are separated by slashes.
    let path: String
    /// The path of the file on this machine.
    let location: String
    let byteCount: Int64
    /// The creation date, or the modification date on systems that do not store creation dates.
    let creation: Timestamp
    let modification: Timestamp
    /// The reason why the contents cannot be read; nil if they can be read.
    var problem: String?

    /// The kind of content that a file probably has, according to its name.
    enum Kind {
        case text
        /// A note in HTML.
        case document
        /// A file that may contain many notes.
        case collection
        case other

        init(_ name: String) {
            let ending = name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
            switch ending {
            case "json", "enex": self = .collection
            case "txt" where name.hasPrefix("Standard Notes"): self = .collection
            case "md", "markdown", "txt", "text": self = .text
            case "html", "htm": self = .document
            default: self = .other
            }
        }
    }

    var kind: Kind { Kind(name) }
    var folders: [String] { path.split(separator: "/").dropLast().map(String.init) }
    var name: String { path.split(separator: "/").last.map(String.init) ?? path }
    /// The name without its extension.
    var stem: String { name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name }

    /// Reads the contents.
    /// - Throws: ``SourceNote/Rejected`` if the file cannot be read or is too large.
    func data(limit: Int64) throws(SourceNote.Rejected) -> Data {
        if let problem { throw SourceNote.Rejected(reason: problem) }
        // The size is checked before the file is read, so that large files are not loaded into memory.
        guard byteCount <= limit else {
            throw SourceNote.Rejected(reason: SourceNote.Rejected.tooLarge(byteCount, limit: limit))
        }
        do {
            return try Data(contentsOf: URL(filePath: location))
        } catch {
            throw SourceNote.Rejected(reason: SourceFile.reason(error))
        }
    }

    /// Reads the contents as text. A byte order mark is removed.
    /// - Throws: ``SourceNote/Rejected`` if the file cannot be read, is too large or is not valid UTF-8.
    func text() throws(SourceNote.Rejected) -> String {
        if problem == nil, byteCount > SourceLimits.textBytes {
            throw SourceNote.Rejected(reason: SourceNote.Rejected.tooLarge(byteCount, limit: Int64(Limits.textBytes)))
        }
        let data = try data(limit: Int64(SourceLimits.textBytes))
        let bytes =
            data.starts(with: SourceLimits.byteOrderMark) ? data.dropFirst(SourceLimits.byteOrderMark.count) : data
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw SourceNote.Rejected(reason: "It is not valid UTF-8.")
        }
        return text
    }

    /// The first bytes of the file; empty if it cannot be read.
    func beginning(_ count: Int) -> Data {
        guard problem == nil, let file = FileHandle(forReadingAtPath: location) else { return Data() }
        defer { try? file.close() }
        return (try? file.read(upToCount: count)) ?? Data()
    }

    /// The size and hash of the contents.
    func contents() throws(SourceNote.Rejected) -> AttachmentData {
        if let problem { throw SourceNote.Rejected(reason: problem) }
        do {
            let file = try FileHandle(forReadingFrom: URL(filePath: location))
            defer { try? file.close() }
            var hasher = AttachmentHasher()
            while let bytes = try file.read(upToCount: 256 << 10), !bytes.isEmpty {
                bytes.withUnsafeBytes { hasher.update($0) }
            }
            return hasher.data
        } catch {
            throw SourceNote.Rejected(reason: SourceFile.reason(error))
        }
    }

    static func reason(_ error: any Error) -> String {
        switch (error as? CocoaError)?.code {
        case .fileReadNoPermission?: "Permission denied."
        case .fileReadNoSuchFile?: "It does not exist."
        default: "Cannot read it: \(error.localizedDescription)"
        }
    }
}

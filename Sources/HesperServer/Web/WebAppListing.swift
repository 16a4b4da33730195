import Foundation

/// Which files there are in the folder of the web app, and what tells one version of each from another. Small enough to be
/// made again and again: nothing is read.
struct WebAppListing: Equatable, Sendable {
    struct Entry: Equatable, Sendable {
        let byteCount: Int
        let modified: Date
        /// Of the file system: another file that took this one's name has another.
        let number: UInt64
    }

    /// By path within the folder: `js/app.js`.
    let entries: [String: Entry]

    /// What is beyond these is no web app, but a folder that was named by mistake.
    static let mostFiles = 500
    static let mostBytes = 16 << 20

    /// - Throws: what the file system says, or ``TooLarge``.
    init(of folder: String) throws {
        var entries: [String: Entry] = [:]
        var byteCount = 0
        let paths = FileManager.default.enumerator(atPath: folder)
        while let paths, let path = paths.nextObject() as? String {
            // Links are not followed: what they lead to was not put here to be served.
            guard WebAppListing.isServed(path), let attributes = paths.fileAttributes,
                attributes[.type] as? FileAttributeType == .typeRegular
            else { continue }
            let entry = Entry(
                byteCount: (attributes[.size] as? NSNumber)?.intValue ?? 0,
                modified: attributes[.modificationDate] as? Date ?? .distantPast,
                number: (attributes[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0)
            entries[path] = entry
            byteCount += entry.byteCount
            guard entries.count <= WebAppListing.mostFiles, byteCount <= WebAppListing.mostBytes else {
                throw TooLarge()
            }
        }
        // A folder that is not there is listed as an empty one.
        guard entries["index.html"] != nil else { throw CocoaError(.fileReadNoSuchFile) }
        self.entries = entries
    }

    struct TooLarge: Error, CustomStringConvertible {
        var description: String {
            "more than \(WebAppListing.mostFiles) files or \(WebAppListing.mostBytes >> 20) MiB are no web app."
        }
    }

    /// Plain names alone, which stand in an address as they are; and nothing hidden.
    private static func isServed(_ path: String) -> Bool {
        guard let ending = path.split(separator: ".").last, WebAppFile.contentTypes[String(ending)] != nil else {
            return false
        }
        return path.split(separator: "/").allSatisfy { name in
            name.first != "."
                && name.utf8.allSatisfy { byte in
                    switch byte {
                    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
                    case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
                    default: false
                    }
                }
        }
    }
}

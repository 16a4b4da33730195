import Foundation

/// The files in the folder of the web app, with what distinguishes one version of a file from another. No file is read.
struct WebAppListing: Equatable, Sendable {
    struct Entry: Equatable, Sendable {
        let byteCount: Int
        let modified: Date
        /// The inode: a file that replaced another of the same name has another inode.
        let number: UInt64
    }

    /// By path in the folder: `js/app.js`.
    let entries: [String: Entry]

    /// A folder that exceeds these was named by mistake.
    static let mostFiles = 500
    static let mostBytes = 16 << 20

    /// - Throws: an error of the file system, or ``TooLarge``.
    init(of folder: String) throws {
        var entries: [String: Entry] = [:]
        var byteCount = 0
        let paths = FileManager.default.enumerator(atPath: folder)
        while let paths, let path = paths.nextObject() as? String {
            // Symbolic links are not followed: they may lead out of the folder.
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
        // The enumerator lists a missing folder as an empty one.
        guard entries["index.html"] != nil else { throw CocoaError(.fileReadNoSuchFile) }
        self.entries = entries
    }

    struct TooLarge: Error, CustomStringConvertible {
        var description: String {
            "the folder has more than \(WebAppListing.mostFiles) files or \(WebAppListing.mostBytes >> 20) MiB."
        }
    }

    /// Only names that need no escapes in an address, and no hidden files.
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

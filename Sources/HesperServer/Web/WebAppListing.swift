import Foundation

/// A list of the files in the folder of the web app. It contains the size, modification date and inode of each file. A comparison
/// of two listings shows whether a file has changed, without reading the file.
struct WebAppListing: Equatable, Sendable {
    struct Entry: Equatable, Sendable {
        let byteCount: Int
        let modified: Date
        /// The inode number of the file. If another file replaces a file of the same name, the inode number is different.
        let number: UInt64
    }

    /// The listed files, by their path in the folder, such as `js/app.js`.
    let entries: [String: Entry]

    /// The maximum number of files. A folder with more files was probably configured by mistake.
    static let mostFiles = 500
    /// The maximum size of all files together, in bytes.
    static let mostBytes = 16 << 20

    /// Lists the files in a folder.
    /// - Throws: an error of the file system, or ``TooLarge``.
    init(of folder: String) throws {
        var entries: [String: Entry] = [:]
        var byteCount = 0
        let paths = FileManager.default.enumerator(atPath: folder)
        while let paths, let path = paths.nextObject() as? String {
            // Symbolic links are not followed, because they may lead out of the folder.
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
        // The enumerator reports no error if the folder does not exist, so this line checks that a required file was found.
        guard entries["index.html"] != nil else { throw CocoaError(.fileReadNoSuchFile) }
        self.entries = entries
    }

    struct TooLarge: Error, CustomStringConvertible {
        var description: String {
            "the folder has more than \(WebAppListing.mostFiles) files, or more than \(WebAppListing.mostBytes >> 20) MiB of files"
        }
    }

    /// Whether a file is served. Its extension must be known, no part of its path may begin with a dot, and the path must not contain
    /// characters that a URL must escape.
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

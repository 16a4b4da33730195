import Foundation
import HesperModel

/// Rules for the paths of notes, relative to the folder.
enum NotePath {
    /// The extensions of files that are notes, in lower case.
    static let endings: Set<String> = ["md", "markdown", "txt"]

    /// Whether a file of this name is a note.
    static func isNote(_ name: String) -> Bool {
        guard !isTemporary(name), let dot = name.lastIndex(of: "."), dot != name.startIndex else { return false }
        return endings.contains(name[name.index(after: dot)...].lowercased())
    }

    /// Whether a file is hidden, or has a name that editors give to temporary files.
    static func isTemporary(_ name: String) -> Bool {
        name.hasPrefix(".") || name.hasSuffix("~") || name == "4913" || name.lowercased().hasSuffix(".swp")
            || (name.count > 1 && name.hasPrefix("#") && name.hasSuffix("#"))
    }

    /// Whether a file is the copy that a sync program makes when two devices changed the same file.
    static func isConflictCopy(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.contains(".sync-conflict-") || name.contains("conflicted copy") || name.contains("_conflict-")
    }

    /// Whether a path of a note can be the path of a file.
    static func isUsable(_ path: String) -> Bool {
        let name = name(of: path)
        return isNote(name) && !isConflictCopy(name) && path.utf8.count <= 3_000 && isSafe(path)
    }

    /// Whether a filename of an attachment can be the path of a file.
    static func isUsable(asFile path: String) -> Bool {
        let name = name(of: path)
        return !isNote(name) && !isTemporary(name) && path.utf8.count <= Limits.filenameBytes && isSafe(path)
    }

    /// Whether a path is relative, does not lead out of the folder, and has no hidden part.
    private static func isSafe(_ path: String) -> Bool {
        path.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { part in
            !part.isEmpty && !part.hasPrefix(".") && part.utf8.count <= 255 && !part.unicodeScalars.contains("\0")
        }
    }

    /// The folders of a path, from the outermost.
    static func folders(of path: String) -> [String] { path.split(separator: "/").dropLast().map(String.init) }

    static func name(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

    /// Splits a path into the path without its extension, and the extension with its dot.
    static func parts(of path: String) -> (stem: String, ending: String) {
        guard let dot = path.lastIndex(of: "."), !path[dot...].contains("/") else { return (path, "") }
        return (String(path[..<dot]), String(path[dot...]))
    }

    /// The name of a note's file, without extension. It is made from the title in the YAML front matter. If there is no title, the
    /// name is made from the first line with words after the front matter.
    static func stem(ofNote text: String) -> String {
        guard let front = FrontMatter(text) else { return FileName.stem(ofNote: text) }
        if let title = front.title {
            let stem = FileName.stem(ofNote: title)
            if stem != untitled { return stem }
        }
        return FileName.stem(ofNote: String(front.rest.prefix(4_096)))
    }

    /// The file name, without extension, for a note that contains no words.
    static let untitled = "Untitled"
}

import Foundation

/// The patterns of `.hesperignore`, one per line, as in `.gitignore` but without `!` and `**`. A pattern without a slash applies to
/// names of files and folders. A pattern with a slash applies to paths relative to the folder. A slash at the end of a pattern is
/// ignored.
struct IgnoreRules: Equatable, Sendable {
    private var names: [String] = []
    private var paths: [String] = []

    init(_ text: String = "") {
        for line in text.split(whereSeparator: \.isNewline) {
            var pattern = line.trimmingCharacters(in: .whitespaces)
            guard !pattern.isEmpty, !pattern.hasPrefix("#") else { continue }
            if pattern.hasSuffix("/") { pattern.removeLast() }
            if !pattern.contains("/") {
                names.append(pattern)
            } else {
                paths.append(pattern.hasPrefix("/") ? String(pattern.dropFirst()) : pattern)
            }
        }
    }

    var isEmpty: Bool { names.isEmpty && paths.isEmpty }

    /// Whether a file or a folder is ignored by itself, regardless of the folders above it.
    func matches(_ path: String) -> Bool {
        guard !isEmpty else { return false }
        let name = NotePath.name(of: path)
        return names.contains { fnmatch($0, name, 0) == 0 } || paths.contains { fnmatch($0, path, FNM_PATHNAME) == 0 }
    }

    /// Whether a file is ignored, by itself or because of a folder above it.
    func ignores(_ path: String) -> Bool {
        guard !isEmpty else { return false }
        var part = ""
        for name in path.split(separator: "/") {
            part += part.isEmpty ? String(name) : "/\(name)"
            if matches(part) { return true }
        }
        return false
    }
}

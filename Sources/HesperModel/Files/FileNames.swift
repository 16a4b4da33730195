/// Assigns a unique path to every file of an archive or a folder. Paths that differ only in case are treated as equal.
///
/// This type stores 8 bytes per path, which is a few megabytes for the largest accounts.
package struct FileNames: Sendable, Equatable {
    private var taken: Set<Int> = []
    /// For each path that was requested more than once: the number to append when it is requested again. The keys are hashes of
    /// the paths.
    private var numbers: [Int: Int] = [:]

    package init() {}

    /// Marks a path as assigned.
    /// - Returns: false if the path was already assigned.
    @discardableResult
    package mutating func take(_ path: String) -> Bool { taken.insert(FileNames.key(path)).inserted }

    /// Assigns a path to a file.
    /// - Parameters:
    ///   - folder: the prefix of the path, such as `Archive/`; empty for no folder.
    ///   - ending: the extension with its dot, such as `.md`.
    /// - Returns: a path such as `Archive/Milk.md`. If this path is already assigned, `Archive/Milk 2.md`, and so on.
    package mutating func path(folder: String, _ stem: String, ending: String) -> String {
        let preferred = "\(folder)\(stem)\(ending)"
        let key = FileNames.key(preferred)
        if taken.insert(key).inserted { return preferred }
        var number = numbers[key] ?? 2
        while true {
            let path = "\(folder)\(stem) \(number)\(ending)"
            number += 1
            if taken.insert(FileNames.key(path)).inserted {
                numbers[key] = number
                return path
            }
        }
    }

    /// Whether two paths are treated as equal.
    package static func areEqual(_ one: String, _ other: String) -> Bool { key(one) == key(other) }

    /// The hash of a path. Two paths have the same hash if at least one file system treats them as equal. File systems fold case in
    /// different ways, so the path is folded to lower case and to upper case. Joiners are ignored because macOS ignores them. If
    /// two different paths have the same hash, one of them gets an unnecessary number.
    private static func key(_ path: String) -> Int {
        let folded = TagName.fold(TagName.fold(path).uppercased())
        var hasher = Hasher()
        for scalar in folded.unicodeScalars where scalar.value != 0x200c && scalar.value != 0x200d {
            hasher.combine(scalar)
        }
        return hasher.finalize()
    }
}

import HesperModel

/// Assigns every file of an archive a unique path. Paths that differ only in case count as equal.
///
/// Stores 8 bytes per path: a few megabytes for the largest accounts.
struct FileNames {
    private var taken: Set<Int> = []
    /// The next number to try for a path that is already taken.
    private var numbers: [Int: Int] = [:]

    /// - Parameters:
    ///   - folder: the prefix of the path, such as `Archive/`, or empty.
    ///   - ending: the extension, including its dot.
    /// - Returns: `Archive/Milk.md`, or if that is taken, `Archive/Milk 2.md`, and so on.
    mutating func path(folder: String, _ stem: String, ending: String) -> String {
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

    /// A hash that is equal for paths that some file system treats as equal. Systems fold case differently, so the path is folded
    /// to both lower and upper case. Joiners are ignored because macOS ignores them. A hash collision only adds a number to a
    /// name.
    private static func key(_ path: String) -> Int {
        let folded = TagName.fold(TagName.fold(path).uppercased())
        var hasher = Hasher()
        for scalar in folded.unicodeScalars where scalar.value != 0x200c && scalar.value != 0x200d {
            hasher.combine(scalar)
        }
        return hasher.finalize()
    }
}

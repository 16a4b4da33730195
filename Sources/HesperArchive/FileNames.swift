import HesperModel

/// Gives every file of an archive a path of its own, also where upper and lower case are one.
///
/// Kept of a path are 8 bytes: a few megabytes for the largest accounts.
struct FileNames {
    private var taken: Set<Int> = []
    /// The next number to try for names that were wanted twice.
    private var numbers: [Int: Int] = [:]

    /// - Parameters:
    ///   - folder: as it begins the path: `Archive/`, or nothing.
    ///   - ending: with its dot.
    /// - Returns: `Archive/Milk.md`; if that is taken, `Archive/Milk 2.md`, and so on.
    mutating func path(folder: String, _ stem: String, ending: String) -> String {
        let wanted = "\(folder)\(stem)\(ending)"
        let key = FileNames.key(wanted)
        if taken.insert(key).inserted { return wanted }
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

    /// What paths have in common that some file system takes for one: systems differ in how they fold case, so both ways
    /// are gone at once; macOS passes over joiners. Two others that hash alike get a number too many, which harms nobody.
    private static func key(_ path: String) -> Int {
        let folded = TagName.fold(TagName.fold(path).uppercased())
        var hasher = Hasher()
        for scalar in folded.unicodeScalars where scalar.value != 0x200c && scalar.value != 0x200d {
            hasher.combine(scalar)
        }
        return hasher.finalize()
    }
}

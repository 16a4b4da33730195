import HesperModel

/// Finds the files to which links lead.
struct LinkedFiles {
    private let paths: [String: String]
    /// The paths of the files with a name; empty if there are several.
    private var byName: [String: String] = [:]

    init(_ files: some Sequence<String>) {
        paths = Dictionary(files.map { ($0, $0) }) { first, _ in first }
        for path in paths.values {
            let name = NotePath.name(of: path)
            byName[name] = byName[name] == nil ? path : ""
        }
    }

    /// The path of the file to which a link leads: relative to the note's folder, else relative to the whole folder, else, with double
    /// brackets, by a name that only one file has. Nil if there is no such file.
    func path(of link: FileLink, in note: String) -> String? {
        let folders = NotePath.folders(of: note)
        for target in link.targets {
            for base in folders.isEmpty ? [[]] : [folders, []] {
                if let path = FileLink.joined(base, target), let found = paths[path] { return found }
            }
            if link.isWiki, let found = byName[target], !found.isEmpty { return found }
        }
        return nil
    }
}

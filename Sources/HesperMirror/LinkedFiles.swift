import HesperModel

/// Finds the files to which links lead.
struct LinkedFiles {
    private let paths: [String: String]
    /// For each file name, the path of the file; empty if several files have this name.
    private var byName: [String: String] = [:]

    init(_ files: some Sequence<String>) {
        paths = Dictionary(files.map { ($0, $0) }) { first, _ in first }
        for path in paths.values {
            let name = NotePath.name(of: path)
            byName[name] = byName[name] == nil ? path : ""
        }
    }

    /// The path of the file to which a link leads; nil if there is none. The target is looked up relative to the note's folder, and
    /// then relative to the whole folder. A target in double brackets may also be the name of a file in any folder, if only one
    /// file has this name.
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

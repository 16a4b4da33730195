import HesperModel

/// Finds the file to which a link in a note leads. Upper and lower case are not distinguished, because many file systems do not
/// distinguish them.
struct FolderIndex {
    private var byPath: [String: Int] = [:]
    private var byName: [String: [Int]] = [:]
    private var byAlias: [String: Int] = [:]
    private let files: [SourceFile]

    /// - Parameter isNote: returns whether a file is a note. A link to a note may omit the extension of the file.
    init(_ files: [SourceFile], isNote: (SourceFile) -> Bool) {
        self.files = files
        for (index, file) in files.enumerated() {
            let isNote = isNote(file)
            for path in FolderIndex.forms(file.path, isNote) where byPath[path] == nil { byPath[path] = index }
            for name in FolderIndex.forms(file.name, isNote) { byName[name, default: []].append(index) }
        }
    }

    /// The keys under which a path or a file name is stored: its folded form and, for a note, also the folded form without the
    /// extension.
    private static func forms(_ path: String, _ isNote: Bool) -> [String] {
        let whole = TagName.fold(path)
        guard isNote, let dot = whole.lastIndex(of: ".") else { return [whole] }
        return [whole, String(whole[..<dot])]
    }

    /// Adds an alternative name of a note.
    mutating func add(alias: String, of index: Int) {
        let name = TagName.fold(alias)
        if byAlias[name] == nil { byAlias[name] = index }
    }

    /// The index of the file to which a link leads; nil if there is no such file. The target is looked up relative to the note's
    /// folder, then relative to the root of the source. The target of a link in double brackets is then looked up by name and by
    /// alias.
    func file(of link: FileLink, in note: SourceFile) -> Int? {
        let folders = note.folders
        for target in link.targets {
            for base in folders.isEmpty ? [[]] : [folders, []] {
                if let path = FileLink.joined(base, target), let found = byPath[TagName.fold(path)] { return found }
            }
            guard link.isWiki else { continue }
            let name = TagName.fold(target)
            if let found = byName[name] { return nearest(found, to: folders) }
            if let found = byAlias[name] { return found }
        }
        return nil
    }

    /// Selects one of several files with the same name: the file in the folder of the note, or otherwise the file with the shortest
    /// path.
    private func nearest(_ indices: [Int], to folders: [String]) -> Int? {
        indices.first { files[$0].folders == folders }
            ?? indices.min { (files[$0].path.utf8.count, $0) < (files[$1].path.utf8.count, $1) }
    }
}

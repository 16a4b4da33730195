import HesperModel

/// Finds the files to which the links of a folder lead. Case is ignored, as on most file systems.
struct FolderIndex {
    private var byPath: [String: Int] = [:]
    private var byName: [String: [Int]] = [:]
    private var byAlias: [String: Int] = [:]
    private let files: [SourceFile]

    /// - Parameter isNote: whether a file can be linked without its extension.
    init(_ files: [SourceFile], isNote: (SourceFile) -> Bool) {
        self.files = files
        for (index, file) in files.enumerated() {
            let isNote = isNote(file)
            for path in FolderIndex.forms(file.path, isNote) where byPath[path] == nil { byPath[path] = index }
            for name in FolderIndex.forms(file.name, isNote) { byName[name, default: []].append(index) }
        }
    }

    /// The folded path, for notes also without the extension.
    private static func forms(_ path: String, _ isNote: Bool) -> [String] {
        let whole = TagName.fold(path)
        guard isNote, let dot = whole.lastIndex(of: ".") else { return [whole] }
        return [whole, String(whole[..<dot])]
    }

    /// Records another name of a note.
    mutating func add(alias: String, of index: Int) {
        let name = TagName.fold(alias)
        if byAlias[name] == nil { byAlias[name] = index }
    }

    /// The index of the file to which a link leads: relative to the note's folder, else relative to the whole folder, else, with double
    /// brackets, by its name or an alias. Nil if there is no such file.
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

    /// Of several files with one name, the one in the same folder, else the one with the shortest path.
    private func nearest(_ indices: [Int], to folders: [String]) -> Int? {
        indices.first { files[$0].folders == folders }
            ?? indices.min { (files[$0].path.utf8.count, $0) < (files[$1].path.utf8.count, $1) }
    }
}

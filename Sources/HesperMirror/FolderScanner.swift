import CFolder
import Foundation
import HesperModel

/// Finds the files of a folder and computes the hashes of their contents. A file whose ``FileStamp`` is unchanged is usually not
/// read again.
struct FolderScanner {
    /// The result of a scan.
    struct Result: Sendable {
        var files: [FolderFile] = []
        /// For each note whose file was hashed again and is unchanged: the current stamp of the file, and the time at which it was
        /// hashed.
        var confirmed: [NoteID: (stamp: FileStamp, hashed: Int64)] = [:]
        /// The path of a subfolder that is synced separately; nil if there is none.
        var innerMirror: String?
        /// Paths that end with the file extension of a note. Each of them is ignored, or is the path of a folder, a link or a
        /// special file. New files cannot have these paths.
        var others: [String] = []
        /// Prefixes of paths, each with a slash at the end. A path with such a prefix cannot be used, because the folder is
        /// ignored, cannot be read, or is a symbolic link.
        var closed: [String] = []
        /// The stamps of files that are not notes but may be attachments, by path.
        var attachable: [String: FileStamp] = [:]
        /// Paths that attachments cannot have, because they belong to folders, links or special files.
        var blocked: [String: SkippedFile.Reason] = [:]
        var unseen = Unseen()
    }

    /// The parts of the folder in which files may exist although a scan does not find them: folders that were not scanned, ignored
    /// paths, and file systems that are not mounted.
    struct Unseen: Sendable {
        /// The paths of folders and links that were not scanned, with a slash at the end.
        fileprivate(set) var closed: [(prefix: String, reason: SkippedFile.Reason)] = []
        /// The paths of folders on which other file systems are mounted.
        fileprivate(set) var mounts: Set<String> = []
        fileprivate(set) var rules = IgnoreRules()

        /// The reason why a file may exist although the scan did not find it; nil if the file is missing.
        /// - Parameter wasMounted: whether the file was on another file system when a scan last found it.
        func reason(_ path: String, wasMounted: Bool) -> SkippedFile.Reason? {
            if let reason = closed.first(where: { path.hasPrefix($0.prefix) })?.reason { return reason }
            if rules.ignores(path) { return .ignored }
            return wasMounted && !mounts.contains(where: { path.hasPrefix($0 + "/") }) ? .unmounted : nil
        }
    }

    private let folder: Folder
    /// The contents of files that have no entry yet, or that differ from their entry, by path.
    private var cache: [String: (stamp: FileStamp, hashed: Int64, content: FolderFile.Content)] = [:]

    /// The time for which a file must be unchanged before it is read, in nanoseconds. If the last change is more recent, another
    /// program may still be writing the file.
    let quietTime: Int64
    static let defaultQuietTime: Int64 = 1_000_000_000
    /// The time for which a file must be unchanged before its hash is trusted, in nanoseconds. If a file was hashed less than this
    /// time after its last change, the next scan hashes it again. The reason is that some file systems store times with a low
    /// resolution. Two changes in quick succession may then leave the same stamp.
    static let coarseness: Int64 = 2_000_000_000

    init(_ folder: Folder, quietTime: Int64) { (self.folder, self.quietTime) = (folder, quietTime) }

    mutating func scan(_ entries: [NoteID: MirrorEntry]) throws -> Result {
        var walk = Walk(folder: folder, cache: cache, now: Folder.now, quietTime: quietTime)
        walk.result.unseen.rules = folder.ignoreRules
        walk.known.reserveCapacity(entries.count)
        for (id, entry) in entries { walk.known[entry.path] = (id, entry) }
        let root = try folder.open("")
        defer { close(root) }
        try walk.walk(root, "")
        walk.addHidden()
        cache = walk.read
        return walk.result
    }

    private struct Walk {
        let folder: Folder
        private var rules: IgnoreRules { result.unseen.rules }
        let cache: [String: (stamp: FileStamp, hashed: Int64, content: FolderFile.Content)]
        let now: Int64
        let quietTime: Int64
        var known: [String: (id: NoteID, entry: MirrorEntry)] = [:]
        var read: [String: (stamp: FileStamp, hashed: Int64, content: FolderFile.Content)] = [:]
        var result = Result()

        mutating func walk(_ descriptor: Int32, _ prefix: String) throws {
            for name in try Folder.names(in: descriptor) {
                guard let name else {
                    result.files.append(FolderFile(path: prefix + "?", stamp: .none, content: .unusable(.name)))
                    continue
                }
                if name == Marker.folderName, !prefix.isEmpty {
                    var status = folder_file()
                    let marker = "\(name)/\(Marker.fileName)"
                    if folder_stat(descriptor, marker, &status) == 0 { result.innerMirror = String(prefix.dropLast()) }
                }
                guard !NotePath.isTemporary(name) else { continue }
                let path = prefix + name
                var status = folder_file()
                guard folder_stat(descriptor, name, &status) == 0 else { continue }
                try visit(path, name, status, in: descriptor)
            }
        }

        private mutating func visit(_ path: String, _ name: String, _ status: folder_file, in parent: Int32) throws {
            if NotePath.isNote(name), status.kind != folder_kind_file || rules.matches(path) {
                result.others.append(path)
            }
            if rules.matches(path) {
                if status.kind == folder_kind_folder {
                    result.unseen.closed.append((path + "/", .ignored))
                } else if known[path] != nil {
                    add(path, folder.stamp(status), .unusable(.ignored))
                }
                return
            }
            switch status.kind {
            case folder_kind_folder:
                result.blocked[path] = .special
                let child = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                guard child >= 0 else {
                    result.unseen.closed.append((path + "/", .unreadable))
                    return
                }
                defer { close(child) }
                if folder.stamp(status).isMounted { result.unseen.mounts.insert(path) }
                do { try walk(child, path + "/") } catch { result.unseen.closed.append((path + "/", .unreadable)) }
            case folder_kind_link:
                result.unseen.closed.append((path + "/", .link))
                result.blocked[path] = .link
                if NotePath.isNote(name) { add(path, folder.stamp(status), .unusable(.link)) }
            case folder_kind_file where NotePath.isNote(name):
                if NotePath.isConflictCopy(name) {
                    add(path, folder.stamp(status), .unusable(.conflictCopy))
                } else {
                    look(at: path, folder.stamp(status), name, in: parent)
                }
            case folder_kind_file: result.attachable[path] = folder.stamp(status)
            default:
                result.blocked[path] = .special
                if NotePath.isNote(name) { add(path, folder.stamp(status), .unusable(.special)) }
            }
        }

        private mutating func add(_ path: String, _ stamp: FileStamp, _ content: FolderFile.Content) {
            result.files.append(FolderFile(path: path, stamp: stamp, content: content))
        }

        private mutating func look(at path: String, _ stamp: FileStamp, _ name: String, in parent: Int32) {
            let entry = known[path]
            if let (_, entry) = entry, entry.stamp == stamp {
                let content = FolderFile.Content.text(file: entry.fileHash, text: entry.textHash)
                if !stamp.isCoarse(at: entry.hashed) { return add(path, stamp, content) }
            } else if let known = cache[path], known.stamp == stamp, !stamp.isCoarse(at: known.hashed) {
                read[path] = known
                return add(path, stamp, known.content)
            } else if (0..<quietTime).contains(now - stamp.changed) {
                return add(path, stamp, .settling)
            }
            let content = content(of: name, in: parent, stamp)
            if let (id, entry) = entry, content == .text(file: entry.fileHash, text: entry.textHash) {
                result.confirmed[id] = (stamp, now)
            } else if content != .settling {
                read[path] = (stamp, now, content)
            }
            add(path, stamp, content)
        }

        private func content(of name: String, in parent: Int32, _ stamp: FileStamp) -> FolderFile.Content {
            guard stamp.size <= UInt64(Limits.textBytes) else { return .unusable(.tooLarge) }
            guard let (bytes, after) = try? folder.read(name, in: parent) else { return .unusable(.unreadable) }
            guard after == stamp else { return .settling }
            do throws(FileText.Unusable) {
                let text = try FileText(bytes)
                let hash = FileText.hash(bytes)
                return .text(file: hash, text: text.hasCRLF ? FileText.hash(of: text.text) : hash)
            } catch {
                return .unusable(error.reason)
            }
        }

        /// Adds to the result the known files that may exist although this scan did not find them (``Unseen``), for example
        /// because they are ignored. Files that are not in the result count as missing.
        mutating func addHidden() {
            result.closed = result.unseen.closed.map(\.prefix)
            let seen = Set(result.files.map(\.path))
            for (path, known) in known where !seen.contains(path) {
                if let reason = result.unseen.reason(path, wasMounted: known.entry.stamp.isMounted) {
                    add(path, .none, .unusable(reason))
                }
            }
        }
    }
}

extension FileStamp {
    /// The stamp of a file that was not examined.
    static let none = FileStamp(size: 0, inode: 0, modified: 0, changed: 0, born: 0)

    /// Whether the file must be hashed again although its stamp is unchanged. This is necessary if the file was hashed very soon
    /// after its last change (``FolderScanner/coarseness``).
    func isCoarse(at hashed: Int64) -> Bool {
        changed > hashed - FolderScanner.coarseness
            || modified > hashed - FolderScanner.coarseness && modified <= hashed
    }
}

import Foundation

/// Computes the hashes of files that are or may become attachments. A file whose ``FileStamp`` is unchanged is usually not read
/// again.
struct AttachableScanner {
    private let folder: Folder
    private let quietTime: Int64
    private var cache: [String: (stamp: FileStamp, hashed: Int64, content: AttachableFile.Content)] = [:]
    private var known: [String: (id: AttachmentID, entry: AttachmentEntry)] = [:]
    /// For each attachment whose file was hashed again and is unchanged: the current stamp of the file, and the time at which it
    /// was hashed.
    private(set) var confirmed: [AttachmentID: (stamp: FileStamp, hashed: Int64)] = [:]

    init(_ folder: Folder, quietTime: Int64) { (self.folder, self.quietTime) = (folder, quietTime) }

    /// Begins a scan.
    /// - Parameters:
    ///   - entries: the known files of attachments.
    ///   - paths: the stamps of all files that may be attachments, by path.
    mutating func begin(_ entries: [AttachmentID: AttachmentEntry], _ paths: [String: FileStamp]) {
        known = Dictionary(entries.map { ($1.path, ($0, $1)) }) { first, _ in first }
        confirmed = [:]
        cache = cache.filter { paths[$0.key] != nil }
    }

    mutating func file(_ path: String, _ stamp: FileStamp) -> AttachableFile {
        AttachableFile(path: path, stamp: stamp, content: content(path, stamp))
    }

    private mutating func content(_ path: String, _ stamp: FileStamp) -> AttachableFile.Content {
        let now = Folder.now
        let known = known[path]
        if let entry = known?.entry, entry.stamp == stamp {
            if !stamp.isCoarse(at: entry.hashed) { return .bytes(entry.sha256) }
        } else if let cached = cache[path], cached.stamp == stamp, !stamp.isCoarse(at: cached.hashed) {
            return cached.content
        } else if (0..<quietTime).contains(now - stamp.changed) {
            return .settling
        }
        let content = read(path, stamp)
        if let known, content == .bytes(known.entry.sha256) {
            confirmed[known.id] = (stamp, now)
        } else if content != .settling {
            cache[path] = (stamp, now, content)
        }
        return content
    }

    private func read(_ path: String, _ stamp: FileStamp) -> AttachableFile.Content {
        guard let (data, after) = try? folder.reader(path).data() else { return .unusable(.unreadable) }
        return after == stamp ? .bytes(data.sha256) : .settling
    }
}

import Foundation
import HesperModel

/// A folder of text files that is to be imported.
struct SourceFolder: TextSource {
    /// The name of the folder, after links and `..` in its path were resolved.
    let name: String
    /// The text files of the folder, in the order of their paths.
    private(set) var files: [SourceFile] = []
    private(set) var ignored = 0
    private(set) var unreadable: [(path: String, reason: String)] = []

    /// Lists the files in a folder and its subfolders. Symbolic links are not followed, so that there are no loops.
    /// - Throws: ``Failure`` if the path is not a readable folder.
    init(_ path: String) throws {
        guard let root = realpath(path, nil) else {
            throw Failure("\(path): \(String(cString: strerror(errno))).", .usage)
        }
        defer { free(root) }
        let rootPath = String(cString: root)
        name = rootPath.split(separator: "/").last.map(String.init) ?? ""
        try read(rootPath, folders: [], isRoot: true)
    }

    private mutating func read(_ path: String, folders: [String], isRoot: Bool = false) throws {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        } catch {
            let reason = SourceFile.reason(error)
            if isRoot { throw Failure("\(path): \(reason)", .usage) }
            unreadable.append((folders.joined(separator: "/"), reason))
            return
        }
        for name in names {
            guard !name.hasPrefix(".") else {
                ignored += 1
                continue
            }
            let path = path + "/" + name
            var status = stat()
            guard lstat(path, &status) == 0 else {
                unreadable.append(((folders + [name]).joined(separator: "/"), String(cString: strerror(errno)) + "."))
                continue
            }
            let kind = status.st_mode & S_IFMT
            if kind == S_IFDIR {
                try read(path, folders: folders + [name])
            } else if kind == S_IFREG, status.st_size > 0, TextFile.isText(name) {
                files.append(SourceFile(path: path, folders: folders, name: name, status: status))
            } else {
                ignored += 1
            }
        }
    }

    func bytes(of file: SourceFile) throws -> Data {
        do {
            return try Data(contentsOf: URL(filePath: file.path))
        } catch {
            throw SourceFile.Rejected(reason: SourceFile.reason(error))
        }
    }
}

extension SourceFile {
    fileprivate init(path: String, folders: [String], name: String, status: stat) {
        #if canImport(Darwin)
            let (modified, created) = (status.st_mtimespec, status.st_birthtimespec)
        #else
            // glibc's `stat` has no creation date, so the modification date is used.
            let (modified, created) = (status.st_mtim, status.st_mtim)
        #endif
        self.init(
            path: path, folders: folders, name: name, byteCount: Int(status.st_size), creation: Timestamp(created),
            modification: Timestamp(modified))
    }
}

extension Timestamp {
    fileprivate init(_ time: timespec) {
        // The seconds are limited to avoid overflow. Times beyond this limit are clamped to the range of timestamps anyway.
        let seconds = min(max(Int64(time.tv_sec), -1 << 40), 1 << 40)
        self.init(clamping: seconds * 1_000 + Int64(time.tv_nsec) / 1_000_000)
    }
}

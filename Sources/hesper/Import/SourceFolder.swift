import Foundation
import HesperModel

/// A folder of texts, as an import finds it.
struct SourceFolder: TextSource {
    /// Its own name, links and `..` resolved.
    let name: String
    /// In the order of their paths.
    private(set) var files: [SourceFile] = []
    private(set) var passedOver = 0
    private(set) var unreadable: [(path: String, reason: String)] = []

    /// Looks through a folder and all folders in it. Links are not followed: there is no going in circles.
    /// - Throws: ``Failure`` if it is not a folder that can be read.
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
                passedOver += 1
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
                passedOver += 1
            }
        }
    }

    func bytes(of file: SourceFile) throws -> Data {
        do {
            return try Data(contentsOf: URL(filePath: file.path))
        } catch {
            throw SourceFile.Unusable(reason: SourceFile.reason(error))
        }
    }
}

extension SourceFile {
    fileprivate init(path: String, folders: [String], name: String, status: stat) {
        #if canImport(Darwin)
            let (changed, born) = (status.st_mtimespec, status.st_birthtimespec)
        #else
            // Glibc's stat does not tell when a file was born.
            let (changed, born) = (status.st_mtim, status.st_mtim)
        #endif
        self.init(
            path: path, folders: folders, name: name, byteCount: Int(status.st_size), creation: Timestamp(born),
            modification: Timestamp(changed))
    }
}

extension Timestamp {
    fileprivate init(_ time: timespec) {
        // Whatever a file system claims: beyond these years all is one.
        let seconds = min(max(Int64(time.tv_sec), -1 << 40), 1 << 40)
        self.init(clamping: seconds * 1_000 + Int64(time.tv_nsec) / 1_000_000)
    }
}

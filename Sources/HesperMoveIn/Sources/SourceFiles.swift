import Foundation
import HesperArchive
import HesperModel

/// The files of a source, which is a folder, an archive or a single file.
struct SourceFiles: Sendable {
    /// The name of the source. It is the name of the folder, or the name of the file or archive without its extension. If all files
    /// of an archive are in a single folder, it is the name of that folder.
    let name: String
    /// The files of the source. The files of a folder are sorted by path. The files of an archive are in the order of the archive.
    private(set) var files: [SourceFile] = []
    /// The number of ignored entries, such as hidden files, empty files and symbolic links.
    private(set) var ignored = 0
    /// The folders and files that cannot be read, with the reasons.
    private(set) var unreadable: [(path: String, reason: String)] = []
    /// Whether the source is a vault of Obsidian. A vault contains a hidden folder with Obsidian's settings.
    private(set) var isVault = false
    private(set) var isSingleFile = false
    /// Whether the files do not belong together, so that a text is identified by its name and contents and not by its path.
    private(set) var isLoose = false
    /// The temporary folder with the unpacked files of an archive; nil if the source is not an archive.
    private let staging: Staging?

    /// Whether the source is an archive.
    var isArchive: Bool { staging != nil }

    /// The source without some of its files.
    func without(_ isExcluded: (SourceFile) -> Bool) -> SourceFiles {
        var rest = self
        rest.files.removeAll(where: isExcluded)
        return rest
    }

    // MARK: Folders

    /// Lists the files in a folder and its subfolders. Symbolic links are not followed, so that there are no loops.
    /// - Throws: ``MoveInError`` if the path is not a readable folder.
    init(folder path: String) throws(MoveInError) {
        guard let root = realpath(path, nil) else {
            throw MoveInError("\(path): \(String(cString: strerror(errno))).", isUsage: true)
        }
        defer { free(root) }
        let rootPath = String(cString: root)
        name = rootPath.split(separator: "/").last.map(String.init) ?? ""
        staging = nil
        do {
            try read(rootPath, folder: "")
        } catch {
            throw MoveInError("\(rootPath): \(SourceFile.reason(error))", isUsage: true)
        }
    }

    private mutating func read(_ path: String, folder: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: path).sorted() {
            guard !name.hasPrefix(".") else {
                if name == SourceFiles.vaultFolder { isVault = true }
                ignored += 1
                continue
            }
            let (path, relative) = (path + "/" + name, folder + name)
            var status = stat()
            guard lstat(path, &status) == 0 else {
                unreadable.append((relative, String(cString: strerror(errno)) + "."))
                continue
            }
            let kind = status.st_mode & S_IFMT
            if kind == S_IFDIR {
                do {
                    try read(path, folder: relative + "/")
                } catch {
                    unreadable.append((relative, SourceFile.reason(error)))
                }
            } else if kind == S_IFREG, status.st_size > 0 {
                files.append(SourceFile(path: relative, location: path, status: status))
            } else {
                ignored += 1
            }
        }
    }

    private static let vaultFolder = ".obsidian"

    // MARK: Single files

    /// - Throws: ``MoveInError`` if the file does not exist.
    init(file path: String) throws(MoveInError) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw MoveInError("\(path): \(String(cString: strerror(errno))).", isUsage: true)
        }
        let file = URL(filePath: path)
        name = file.deletingPathExtension().lastPathComponent
        staging = nil
        // The parser runs in another folder, so the path is made absolute.
        files = [SourceFile(path: file.lastPathComponent, location: file.absoluteURL.path, status: status)]
        isSingleFile = true
        isLoose = true
    }

    // MARK: Archives

    /// Unpacks an archive into a temporary folder. Each unpacked file gets a new name, so that a path in the archive cannot lead
    /// out of the temporary folder. Archives within the archive are not unpacked.
    /// - Parameter isLoose: whether the files in the archive do not belong together.
    /// - Throws: ``ArchiveError`` if the archive is damaged or encrypted; ``MoveInError`` if the disk is full or a limit is
    ///   exceeded.
    init(
        archive path: String, _ format: ZipReader.Format, _ limits: SourceLimits, isLoose: Bool, in staging: Staging
    ) throws {
        self.isLoose = isLoose
        var unpacked: [UnpackedFile] = []
        var space = TemporarySpace(limits, in: staging)
        var broken = 0
        try limits.check(path, format)
        var zip = try ZipReader(path, format)
        while true {
            do {
                while let entry = try zip.next() {
                    guard unpacked.count < limits.entries else { throw limits.tooManyEntries }
                    unpacked.append(UnpackedFile(entry, problem: "It is damaged."))
                    try unpacked[unpacked.count - 1].unpack(from: zip, limits, &space, in: staging)
                }
                break
            } catch let error as ArchiveError where error.isOneFile && broken < SourceFiles.maximumBroken {
                // After a damaged file, libarchive cannot continue. Therefore the archive is opened again, and the entries up to
                // and including the damaged file are skipped.
                broken += 1
                zip = try ZipReader(path, format)
                for _ in unpacked { _ = try zip.next() }
            }
        }
        let folders = Set(unpacked.filter { !$0.isHidden }.map { $0.parts.count > 1 ? $0.parts[0] : "" })
        let isOneFolder = !isLoose && folders.count == 1 && folders != [""] && folders != [".."]
        let file = URL(filePath: path).deletingPathExtension().lastPathComponent
        name = isOneFolder ? folders.first ?? file : file
        self.staging = staging
        for file in unpacked { add(file, removingFolders: isOneFolder ? 1 : 0) }
    }

    /// The maximum number of damaged files in an archive. If there are more, reading the archive fails.
    private static let maximumBroken = 100

    private mutating func add(_ file: UnpackedFile, removingFolders count: Int) {
        if file.parts.contains(SourceFiles.vaultFolder) { isVault = true }
        guard !file.isHidden, file.byteCount != 0 || file.problem != nil else {
            ignored += 1
            return
        }
        guard !file.parts.contains(where: { $0.isEmpty || $0 == ".." }) else {
            unreadable.append((file.path, "Its path in the archive is invalid."))
            return
        }
        files.append(
            SourceFile(
                path: file.parts.dropFirst(count).joined(separator: "/"), location: file.location,
                byteCount: file.byteCount, creation: file.date, modification: file.date, problem: file.problem))
    }
}

/// A file of an archive, and its unpacked copy.
private struct UnpackedFile {
    let path: String
    let date: Timestamp
    /// The components of the path. Some Windows programs separate them with backslashes.
    let parts: [String]
    private(set) var location = ""
    private(set) var byteCount: Int64
    private(set) var problem: String?

    init(_ entry: ZipReader.Entry, problem: String) {
        (path, date, self.problem) = (entry.path, entry.date, problem)
        byteCount = entry.byteCount ?? 0
        let separator: Character = path.contains("/") ? "/" : "\\"
        parts = path.split(separator: separator, omittingEmptySubsequences: false).filter { $0 != "." }.map(String.init)
    }

    /// Whether the file is hidden, or is metadata that macOS added.
    var isHidden: Bool { parts.contains { $0.hasPrefix(".") && $0 != ".." } || parts.first == "__MACOSX" }

    /// Writes the contents to a temporary file, unless the file is hidden or too large.
    mutating func unpack(
        from zip: ZipReader, _ limits: SourceLimits, _ space: inout TemporarySpace, in staging: Staging
    ) throws {
        guard !isHidden else { return }
        let name = parts.last ?? ""
        let limit = limits.bytes(of: name)
        guard byteCount <= limit else {
            let shown = SourceFile.Kind(name) == .text ? Int64(Limits.textBytes) : limit
            problem = SourceNote.Rejected.tooLarge(byteCount, limit: shown)
            return
        }
        var file = try StagedFile(in: staging)
        location = file.path
        while let bytes = try zip.read() {
            guard file.byteCount + Int64(bytes.count) <= limit else {
                unlink(location)
                problem = "It has more than \(limit) bytes."
                return
            }
            try space.add(bytes.count)
            try bytes.withUnsafeBytes { try file.append($0) }
        }
        byteCount = file.byteCount
        problem = nil
    }
}

extension SourceFile {
    fileprivate init(path: String, location: String, status: stat) {
        #if canImport(Darwin)
            let (modified, created) = (status.st_mtimespec, status.st_birthtimespec)
        #else
            // glibc's `stat` has no creation date, so the modification date is used.
            let (modified, created) = (status.st_mtim, status.st_mtim)
        #endif
        self.init(
            path: path, location: location, byteCount: Int64(status.st_size), creation: Timestamp(created),
            modification: Timestamp(modified))
    }
}

extension Timestamp {
    fileprivate init(_ time: timespec) {
        // The seconds are limited, so that the multiplication does not overflow. Times beyond this limit are clamped to the range
        // of timestamps.
        let seconds = min(max(Int64(time.tv_sec), -1 << 40), 1 << 40)
        self.init(clamping: seconds * 1_000 + Int64(time.tv_nsec) / 1_000_000)
    }
}

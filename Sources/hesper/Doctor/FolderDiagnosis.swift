import Foundation

/// Checks a folder of an installation: its owner, permissions and free space.
struct FolderDiagnosis {
    let path: String
    /// The word that messages use for the contents of the folder, for example `data`.
    let contents: String
    /// Whether only the owner may have access to the folder.
    var isPrivate = true

    /// The limits of free disk space, in bytes. If less than `criticalSpace` is free, writes may fail soon, and the finding is
    /// `wrong`. If less than `lowSpace` is free, the finding is a warning.
    private static let (criticalSpace, lowSpace) = (Int64(64) << 20, Int64(1) << 30)

    func all() -> [Diagnosis] {
        var status = stat()
        guard stat(path, &status) == 0 else {
            return [
                .wrong("Cannot access the \(contents) folder \(path): \(String(cString: strerror(errno))).")
            ]
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { return [.wrong("\(path) is not a folder.")] }
        var found: [Diagnosis] = []
        if access(path, W_OK | X_OK) != 0 {
            found.append(
                .wrong("The user \(NSUserName()) cannot write to \(path). It belongs to another user or is read-only."))
        } else if status.st_uid != geteuid() {
            found.append(
                .warning(
                    "\(path) does not belong to the user \(NSUserName()). Run this command as the user that runs the server."
                ))
        }
        if isPrivate { found += Diagnosis.openness(of: path, status) + readableFiles() }
        found += disk()
        guard isPrivate else { return found }
        return found.isEmpty ? [.ok("The \(contents) folder \(path) is private and has enough free space.")] : found
    }

    /// Returns a finding for each database file that other users can access. The additional files that SQLite creates are checked
    /// too.
    private func readableFiles() -> [Diagnosis] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.sorted().filter { $0.hasPrefix("hesper.") }.flatMap { name -> [Diagnosis] in
            var status = stat()
            let file = "\(path)/\(name)"
            return lstat(file, &status) == 0 ? Diagnosis.openness(of: file, status) : []
        }
    }

    private func disk() -> [Diagnosis] {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return [] }
        let free = Int64(status.f_bavail) * Int64(status.f_frsize)
        let text = "\(path) has \(free >> 20) MiB of free disk space"
        if free < FolderDiagnosis.criticalSpace { return [.wrong("\(text). Free some space.")] }
        return free < FolderDiagnosis.lowSpace ? [.warning("\(text).")] : []
    }
}

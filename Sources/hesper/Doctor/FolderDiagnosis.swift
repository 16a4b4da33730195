import Foundation

/// One folder that Hesper keeps things in: whose it is, who may read it, what it lies on, and how much room is left.
struct FolderDiagnosis {
    let path: String
    /// What it is called: `data`.
    let what: String
    /// Whether it is for its owner's eyes alone, not only what is in it.
    var isPrivate = true

    /// Below the first nothing may be written soon, below the second somebody should look.
    private static let (least, little) = (Int64(64) << 20, Int64(1) << 30)

    func all() -> [Diagnosis] {
        var status = stat()
        guard stat(path, &status) == 0 else {
            return [
                .wrong("The folder of the \(what), \(path), cannot be looked at: \(String(cString: strerror(errno))).")
            ]
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { return [.wrong("\(path) is not a folder.")] }
        var found: [Diagnosis] = []
        if access(path, W_OK | X_OK) != 0 {
            found.append(.wrong("The user \(NSUserName()) cannot write to \(path): it is another's, or read-only."))
        } else if status.st_uid != geteuid() {
            found.append(
                .warning(
                    "\(path) is another user's than \(NSUserName()): run this as the user that serves, or files of two owners will mix."
                ))
        }
        if isPrivate { found += Diagnosis.openness(of: path, status) + readableFiles() }
        found += disk()
        guard isPrivate else { return found }
        return found.isEmpty ? [.ok("The folder of the \(what), \(path), is its owner's alone, and has room.")] : found
    }

    /// The database, and what SQLite has beside it.
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
        let text = "\(free >> 20) MiB are free on the disk of \(path)"
        if free < FolderDiagnosis.least { return [.wrong("\(text): make room.")] }
        return free < FolderDiagnosis.little ? [.warning("\(text).")] : []
    }
}

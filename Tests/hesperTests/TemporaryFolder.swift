import Foundation

/// A folder in `.build` for one test. Removed on deinitialization.
final class TemporaryFolder: Sendable {
    let url: URL

    init() {
        url = URL(filePath: #filePath).appending(path: "../../../.build/hesper-tests/\(UUID())").standardizedFileURL
        try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var path: String { url.path }

    /// - Returns: the path of the file.
    @discardableResult
    func write(_ text: String, to name: String, changed date: Date? = nil) throws -> String {
        try write(Data(text.utf8), to: name, changed: date)
    }

    @discardableResult
    func write(_ data: Data, to name: String, changed date: Date? = nil) throws -> String {
        let file = url.appending(path: name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
        if let date { try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path) }
        return file.path
    }
}

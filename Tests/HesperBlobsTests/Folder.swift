import Foundation

/// A folder in `.build` for one test. Removed on deinitialization.
final class Folder: Sendable {
    let url: URL

    init() {
        var root = URL(filePath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        url = root.appending(path: ".build/tests/\(UUID().uuidString)")
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The path of a file in the folder.
    func path(_ name: String) -> String { url.appending(path: name).path }
}

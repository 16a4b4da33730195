import Foundation

/// A temporary folder for one test, below `.build`. It is removed when it is released.
final class Folder: Sendable {
    let url: URL

    init() {
        var root = URL(filePath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        url = root.appending(path: ".build/tests/\(UUID().uuidString)")
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var database: String { url.appending(path: "hesper.sqlite").path }
}

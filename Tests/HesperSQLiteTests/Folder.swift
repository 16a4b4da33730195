import Foundation

/// A folder for one test, below `.build`; gone when the test is over.
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

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

    /// A path in it.
    func path(_ name: String) -> String { url.appending(path: name).path }
}

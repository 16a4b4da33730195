import Foundation

/// The text of `docs/storage.md`, for tests that compare it with the code.
public func storagePage() throws -> String {
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    return try String(contentsOf: tests.appending(path: "../docs/storage.md"), encoding: .utf8)
}

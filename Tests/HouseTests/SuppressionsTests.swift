import Foundation
import Testing

/// Checks that each sanitizer suppression (Tools/sanitize) has a reason and does not concern this package.
@Suite struct SuppressionsTests {
    @Test(arguments: ["leaks.txt", "memory.txt", "threads.txt"]) func eachHasAReasonAndIsExternal(_ file: String) throws
    {
        let path = CitationsTests.root.appending(path: "Tools/sanitize/\(file)")
        let text = try String(contentsOf: path, encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.first?.hasPrefix("# ") == true)
        for (above, line) in zip(lines, lines.dropFirst()) where !line.isEmpty && !line.hasPrefix("#") {
            #expect(
                line.contains(#/^(?:leak|interceptor_via_fun|race|race_top|called_from_lib):[^ ]+$/#),
                "\(file): \(line)")
            #expect(above.hasPrefix("# "), "\(file) has no reason for \(line)")
            #expect(
                line.range(of: "hesper", options: .caseInsensitive) == nil,
                "\(file) suppresses code of this package: \(line)")
        }
    }

    /// ThreadSanitizer does not detect the lock of the standard library's `Mutex` (docs/decisions, record 49), so that every
    /// value that it guards would need a suppression.
    @Test func noMutexIsUsed() throws {
        let folder = CitationsTests.root.appending(path: "Sources")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        let texts = try files.map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }
        #expect(texts.contains { $0.contains("NIOLockedValueBox(") })
        for (file, text) in zip(files, texts) {
            #expect(!text.contains(#/\bMutex[<(]/#), "\(file) uses Mutex: use NIOLockedValueBox instead")
        }
    }
}

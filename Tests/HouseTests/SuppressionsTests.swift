import Foundation
import Testing

/// What sanitizers pass over (Tools/sanitize) has a reason each, and is nothing of ours.
@Suite struct SuppressionsTests {
    @Test(arguments: ["leaks.txt", "memory.txt", "threads.txt"]) func eachHasAReasonAndIsNotOurs(_ file: String) throws
    {
        let path = CitationsTests.root.appending(path: "Tools/sanitize/\(file)")
        let text = try String(contentsOf: path, encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.first?.hasPrefix("# ") == true)
        for (above, line) in zip(lines, lines.dropFirst()) where !line.isEmpty && !line.hasPrefix("#") {
            #expect(
                line.contains(#/^(?:leak|interceptor_via_fun|race|race_top|called_from_lib):[^ ]+$/#),
                "\(file): \(line)")
            #expect(above.hasPrefix("# "), "\(file) gives no reason for \(line)")
            #expect(line.range(of: "hesper", options: .caseInsensitive) == nil, "\(file) passes over our own: \(line)")
        }
    }

    /// ThreadSanitizer does not see the lock of the standard library's `Mutex` (docs/decisions, record 49): what it guards would
    /// have to be passed over.
    @Test func locksAreOnesThatAreSeen() throws {
        let folder = CitationsTests.root.appending(path: "Sources")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        let texts = try files.map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }
        #expect(texts.contains { $0.contains("NIOLockedValueBox(") })
        for (file, text) in zip(files, texts) {
            #expect(!text.contains(#/\bMutex[<(]/#), "\(file) has a Mutex: NIOLockedValueBox is seen")
        }
    }
}

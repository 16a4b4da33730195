import CArchive
import Foundation

/// libarchive converts file names according to the locale of the thread. This sets a UTF-8 locale for the duration of a call,
/// whatever locale the process runs in.
enum ZipLocale {
    // Shared by all threads. A locale is immutable after it is created, and this one is never freed.
    nonisolated(unsafe) private static let utf8 = archives_utf8_locale()

    /// Runs `body`, which calls libarchive, with the UTF-8 locale on this thread.
    static func with<T>(_ body: () throws -> T) rethrows -> T {
        guard let utf8 else { return try body() }
        let before = uselocale(utf8)
        defer { uselocale(before) }
        return try body()
    }
}

import CArchive
import Foundation

/// libarchive takes names for what the locale of the thread says. Ours are UTF-8 whatever the server was started in.
enum ZipLocale {
    // One for the process: a locale is not changed once it is made, and never freed.
    nonisolated(unsafe) private static let utf8 = archives_utf8_locale()

    /// Does `body`, which calls libarchive, on this thread.
    static func with<T>(_ body: () throws -> T) rethrows -> T {
        guard let utf8 else { return try body() }
        let before = uselocale(utf8)
        defer { uselocale(before) }
        return try body()
    }
}

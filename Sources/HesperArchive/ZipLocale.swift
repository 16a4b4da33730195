import CArchive
import Foundation

/// Sets a UTF-8 locale for the duration of a call of libarchive. libarchive converts file names according to the locale of the
/// thread, and the locale of the process may not be UTF-8.
enum ZipLocale {
    // All threads use this locale. This is safe, because a locale cannot be changed after it has been created, and because this
    // locale is never freed.
    nonisolated(unsafe) private static let utf8 = archives_utf8_locale()

    /// Runs `body`, which calls libarchive, while this thread has the UTF-8 locale.
    static func with<T>(_ body: () throws -> T) rethrows -> T {
        guard let utf8 else { return try body() }
        let before = uselocale(utf8)
        defer { uselocale(before) }
        return try body()
    }
}

import Foundation

/// Converts text in other character sets to Unicode, with the system's `iconv`.
enum Charset {
    /// Decodes bytes as text. Bytes that are invalid in the character set become U+FFFD. If the character set is unknown, the bytes
    /// are decoded as UTF-8. If they are not valid UTF-8, they are decoded as Windows-1252.
    static func text(_ bytes: ArraySlice<UInt8>, charset: String) -> String {
        let name = charset.lowercased()
        if name == "utf-8" || name == "utf8" || name == "us-ascii" || name.isEmpty {
            return String(validating: bytes, as: UTF8.self) ?? unlabelled(bytes)
        }
        // Text that is declared as Latin 1 is usually Windows-1252. Browsers also decode it as Windows-1252.
        if name == "iso-8859-1" || name == "latin1" {
            return converted(bytes, from: "WINDOWS-1252") ?? unlabelled(bytes)
        }
        return converted(bytes, from: name) ?? unlabelled(bytes)
    }

    private static func unlabelled(_ bytes: ArraySlice<UInt8>) -> String {
        String(validating: bytes, as: UTF8.self) ?? converted(bytes, from: "WINDOWS-1252")
            ?? String(decoding: bytes, as: UTF8.self)
    }

    /// Converts bytes with `iconv`. Nil if the character set is unknown.
    private static func converted(_ bytes: ArraySlice<UInt8>, from charset: String) -> String? {
        guard charset.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "/") }),
            let converter = iconv_open("UTF-8", charset), converter != iconv_t(bitPattern: -1)
        else { return nil }
        defer { iconv_close(converter) }
        var input = Array(bytes)
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = input.count
        input.withUnsafeMutableBytes { source in
            buffer.withUnsafeMutableBytes { target in
                var next = source.baseAddress?.assumingMemoryBound(to: CChar.self)
                var left = count
                while left > 0 {
                    var free = target.count
                    var end = target.baseAddress?.assumingMemoryBound(to: CChar.self)
                    let result = iconv(converter, &next, &left, &end, &free)
                    output += target[..<(target.count - free)]
                    guard result == -1, errno != E2BIG, left > 0 else { continue }
                    // Replace an invalid or incomplete byte with U+FFFD.
                    output += [0xef, 0xbf, 0xbd]
                    next = next.map { $0 + 1 }
                    left -= 1
                }
            }
        }
        return String(decoding: output, as: UTF8.self)
    }
}

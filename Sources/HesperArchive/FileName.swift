import HesperModel

/// Converts text written by users to file names that are valid on Windows, macOS and Linux.
enum FileName {
    /// The maximum length of a name without its extension, in bytes of UTF-8. With a number and an extension it stays below the
    /// limit of 143 bytes of encrypting file systems (eCryptfs), which is lower than the usual 255.
    static let stemBytes = 100

    /// The file name of a note without its extension: the first line without Markdown heading marks.
    static func stem(ofNote text: String) -> String {
        let line = text.drop(while: \.isWhitespace).prefix { !$0.isNewline }
        return safe(prefix(of: line.drop { $0.isWhitespace || $0 == "#" })) ?? "Untitled"
    }

    /// The file name of an attachment, split into stem and extension. The stem defaults to the ID.
    static func parts(ofAttachment id: UniqueID, filename: String?, mimeType: String?) -> (stem: String, ending: String)
    {
        let name = filename ?? ""
        let known = mimeType.flatMap { MediaType.endings[$0.lowercased()] }.map { "." + $0 } ?? ""
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex, isEnding(name[dot...].dropFirst()) else {
            return (safe(prefix(of: name[...])) ?? id.description, known)
        }
        return (safe(prefix(of: name[..<dot])) ?? id.description, String(name[dot...]))
    }

    /// A bounded prefix of a line. It is longer than ``stemBytes`` because ``safe(_:)`` removes some characters.
    private static func prefix(of line: Substring) -> String { String(line.unicodeScalars.prefix(4 * stemBytes)) }

    private static func isEnding(_ text: Substring) -> Bool {
        (1...10).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0)
            }
    }

    /// The text as a file name without extension. Nil if no valid character is left.
    static func safe(_ text: String) -> String? {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            // Separators of folders, drives or streams on some system.
            case "/", "\\", ":", "|": result.append("-")
            // Not allowed in names on Windows.
            case "<", ">", "\"", "?", "*": continue
            case _ where scalar.properties.isWhitespace || scalar.properties.generalCategory == .control:
                if result.last != " " { result.append(" ") }
            case _ where isInvisible(scalar): continue
            default: result.append(scalar)
            }
        }
        let name = cut(trimmed(CanonicalForm.composed(String(result))))
        return name.isEmpty ? nil : unreserved(name)
    }

    /// Whether a scalar is invisible, such as marks of direction or byte order, which make different names look alike. Joiners
    /// are kept because Persian, Hindi and emoji need them.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value == 0x200c || scalar.value == 0x200d { return false }
        switch scalar.properties.generalCategory {
        case .format, .privateUse, .surrogate, .unassigned: return true
        default: return false
        }
    }

    /// Removes leading characters that hide a file or look like an option, and trailing characters that Windows drops.
    private static func trimmed(_ name: String) -> String {
        let scalars = name.unicodeScalars
        let edges: Set<Unicode.Scalar> = [" ", ".", "-", "~", "\u{200c}", "\u{200d}"]
        guard let first = scalars.firstIndex(where: { !edges.contains($0) }),
            let last = scalars.lastIndex(where: { $0 != " " && $0 != "." })
        else { return "" }
        return String(scalars[first...last])
    }

    /// Truncates a name to ``stemBytes`` at the boundary of a character (grapheme cluster).
    private static func cut(_ name: String) -> String {
        guard name.utf8.count > stemBytes else { return name }
        var result = ""
        for character in name {
            guard result.utf8.count + character.utf8.count <= stemBytes else { break }
            result.append(character)
        }
        return trimmed(result)
    }

    /// Appends `_` to names that Windows reserves for devices. Windows ignores whatever follows the first dot.
    private static func unreserved(_ name: String) -> String {
        let dot = name.firstIndex(of: ".") ?? name.endIndex
        let device = name[..<dot].uppercased().filter { $0 != " " }
        guard reserved.contains(device) else { return name }
        return name[..<dot] + "_" + name[dot...]
    }

    private static let reserved: Set<String> = {
        let numbers = (0...9).map(String.init) + ["\u{b9}", "\u{b2}", "\u{b3}"]
        return Set(["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"] + numbers.flatMap { ["COM" + $0, "LPT" + $0] })
    }()
}

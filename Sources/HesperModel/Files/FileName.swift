/// Converts text written by users to file names that are valid on Windows, macOS and Linux.
package enum FileName {
    /// The maximum length of a stem (a file name without its extension), in bytes of UTF-8. With a number and an
    /// extension, the file name remains shorter than 143 bytes, the limit of encrypted file systems (eCryptfs). Other
    /// file systems allow 255 bytes.
    package static let stemBytes = 100

    /// The stem of a note's file name. It is the first line of the text without the marks of a Markdown heading. A
    /// picture is replaced with its alternative text.
    package static func stem(ofNote text: String) -> String {
        let line = AttachmentMark.removeAll(from: String(text.unicodeScalars.prefix(40 * stemBytes))).drop(
            while: \.isWhitespace
        ).prefix { !$0.isNewline }
        return safe(prefix(of: line.drop { $0.isWhitespace || $0 == "#" })) ?? "Untitled"
    }

    /// The stem and the extension of an attachment's file name. If the attachment has no usable `filename`, the stem is
    /// the ID.
    package static func parts(ofAttachment id: UniqueID, filename: String?, mimeType: String?) -> (
        stem: String, ending: String
    ) {
        let name = filename ?? ""
        let known = mimeType.flatMap { MediaType.endings[$0.lowercased()] }.map { "." + $0 } ?? ""
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex, isEnding(name[dot...].dropFirst()) else {
            return (safe(prefix(of: name[...])) ?? id.description, known)
        }
        return (safe(prefix(of: name[..<dot])) ?? id.description, String(name[dot...]))
    }

    /// Returns the beginning of a line, so that very long lines are processed quickly. The result may be longer than
    /// ``stemBytes``, because ``safe(_:)`` may remove some of the characters.
    private static func prefix(of line: Substring) -> String { String(line.unicodeScalars.prefix(4 * stemBytes)) }

    private static func isEnding(_ text: Substring) -> Bool {
        (1...10).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0)
            }
    }

    /// Converts a text to a file name without extension; nil if the text has no characters that are valid in a file name.
    static func safe(_ text: String) -> String? {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            // These characters separate folders, drives or streams on some operating systems.
            case "/", "\\", ":", "|": result.append("-")
            // Windows does not allow these characters in file names.
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

    /// Whether a scalar is invisible and can be removed, such as a mark for the writing direction or a byte order mark. Such
    /// scalars would make different names look alike. Joiners are kept because Persian, Hindi and emoji need them.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value == 0x200c || scalar.value == 0x200d { return false }
        switch scalar.properties.generalCategory {
        case .format, .privateUse, .surrogate, .unassigned: return true
        default: return false
        }
    }

    /// Removes characters at the start that hide a file or make its name look like a command option, and characters at the end
    /// that Windows removes.
    private static func trimmed(_ name: String) -> String {
        let scalars = name.unicodeScalars
        let edges: Set<Unicode.Scalar> = [" ", ".", "-", "~", "\u{200c}", "\u{200d}"]
        guard let first = scalars.firstIndex(where: { !edges.contains($0) }),
            let last = scalars.lastIndex(where: { $0 != " " && $0 != "." })
        else { return "" }
        return String(scalars[first...last])
    }

    /// Truncates a name to at most ``stemBytes`` bytes. The name is cut between characters (grapheme clusters).
    private static func cut(_ name: String) -> String {
        guard name.utf8.count > stemBytes else { return name }
        var result = ""
        for character in name {
            guard result.utf8.count + character.utf8.count <= stemBytes else { break }
            result.append(character)
        }
        return trimmed(result)
    }

    /// Appends `_` to the part of a name before the first dot if this part is the name of a device on Windows, such as `CON`.
    /// Windows reserves device names regardless of the text after the first dot.
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

import HesperModel

/// Turns words of people into the name of a file that every system takes: Windows, macOS, Linux, and what carries files
/// between them.
enum FileName {
    /// Bytes of UTF-8 of a name without its extension: with a number and an extension it stays below the 143 that
    /// encrypting file systems leave of the usual 255.
    static let stemBytes = 100

    /// What a note is called, without its extension: by its first line, without what Markdown begins a heading with.
    static func stem(ofNote text: String) -> String {
        let line = text.drop(while: \.isWhitespace).prefix { !$0.isNewline }
        return safe(beginning(of: line.drop { $0.isWhitespace || $0 == "#" })) ?? "Untitled"
    }

    /// What an attachment is called, in two parts: as its file was, else by its ID.
    static func parts(ofAttachment id: UniqueID, filename: String?, mimeType: String?) -> (stem: String, ending: String)
    {
        let name = filename ?? ""
        let known = mimeType.flatMap { MediaType.endings[$0.lowercased()] }.map { "." + $0 } ?? ""
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex, isEnding(name[dot...].dropFirst()) else {
            return (safe(beginning(of: name[...])) ?? id.description, known)
        }
        return (safe(beginning(of: name[..<dot])) ?? id.description, String(name[dot...]))
    }

    /// Enough of a line that may be as long as a note: some of its marks fall away.
    private static func beginning(of line: Substring) -> String { String(line.unicodeScalars.prefix(4 * stemBytes)) }

    private static func isEnding(_ text: Substring) -> Bool {
        (1...10).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0)
            }
    }

    /// The same words as the name of a file without its extension; nil if nothing is left.
    static func safe(_ text: String) -> String? {
        var kept = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            // What means a folder, a drive or a stream somewhere.
            case "/", "\\", ":", "|": kept.append("-")
            // What Windows refuses in a name.
            case "<", ">", "\"", "?", "*": continue
            case _ where scalar.properties.isWhitespace || scalar.properties.generalCategory == .control:
                if kept.last != " " { kept.append(" ") }
            case _ where isInvisible(scalar): continue
            default: kept.append(scalar)
            }
        }
        let name = cut(trimmed(CanonicalForm.composed(String(kept))))
        return name.isEmpty ? nil : unreserved(name)
    }

    /// Marks of direction, of byte order and the like, which make names look like others. Joiners are letters' business, in
    /// Persian, in Hindi and in emoji.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value == 0x200c || scalar.value == 0x200d { return false }
        switch scalar.properties.generalCategory {
        case .format, .privateUse, .surrogate, .unassigned: return true
        default: return false
        }
    }

    /// Without what hides a file, looks like an option, or is lost at an end on Windows.
    private static func trimmed(_ name: String) -> String {
        let scalars = name.unicodeScalars
        let edges: Set<Unicode.Scalar> = [" ", ".", "-", "~", "\u{200c}", "\u{200d}"]
        guard let first = scalars.firstIndex(where: { !edges.contains($0) }),
            let last = scalars.lastIndex(where: { $0 != " " && $0 != "." })
        else { return "" }
        return String(scalars[first...last])
    }

    /// At most ``stemBytes`` of it, and no half of what people see as one character.
    private static func cut(_ name: String) -> String {
        guard name.utf8.count > stemBytes else { return name }
        var kept = ""
        for character in name {
            guard kept.utf8.count + character.utf8.count <= stemBytes else { break }
            kept.append(character)
        }
        return trimmed(kept)
    }

    /// Windows takes these for devices, whatever follows a dot.
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

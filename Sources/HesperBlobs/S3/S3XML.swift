/// An element of an XML response of S3. The parser supports only the features that S3 uses: elements, text, and references to
/// characters.
///
/// Foundation's parser is not used, so that this module does not depend on libxml2.
struct S3XML: Sendable, Equatable {
    let name: String
    /// The text of the element, if it has no children.
    var text = ""
    var children: [S3XML] = []

    /// The text of the first child element with this name; nil if there is none.
    subscript(name: String) -> String? { all(name).first?.text }

    func all(_ name: String) -> [S3XML] { children.filter { $0.name == name } }
}

extension S3XML {
    /// The maximum nesting depth of elements. S3 uses four levels.
    private static let depth = 16

    /// Parses an XML document; nil if it is malformed or uses features that S3 does not use.
    init?(reading text: String) {
        // The text is parsed by Unicode scalars. If it were parsed by `Character`, a bracket and a combining character after it
        // would be one character.
        var rest = text.unicodeScalars[...]
        var open: [S3XML] = []
        while let start = rest.firstIndex(of: "<") {
            guard let text = S3XML.decoded(rest[..<start]) else { return nil }
            if open.isEmpty {
                guard text.allSatisfy(\.isWhitespace) else { return nil }
            } else {
                open[open.count - 1].text += text
            }
            guard let end = rest[start...].firstIndex(of: ">") else { return nil }
            let tag = rest[rest.index(after: start)..<end]
            rest = rest[rest.index(after: end)...]
            guard let first = tag.first, first != "!" else { return nil }
            if first == "?" { continue }
            if first != "/" {
                let name = tag.prefix { !$0.properties.isWhitespace && $0 != "/" }
                guard !name.isEmpty, open.count < S3XML.depth else { return nil }
                open.append(S3XML(name: String(name)))
                if tag.last != "/" { continue }
            } else {
                guard let name = open.last?.name, String(tag.dropFirst()) == name else { return nil }
            }
            guard var element = open.popLast() else { return nil }
            if !element.children.isEmpty { element.text = "" }
            guard !open.isEmpty else {
                guard rest.allSatisfy(\.properties.isWhitespace) else { return nil }
                self = element
                return
            }
            open[open.count - 1].children.append(element)
        }
        return nil
    }

    private static func decoded(_ text: Substring.UnicodeScalarView) -> String? {
        var (rest, decoded) = (text, "")
        while let start = rest.firstIndex(of: "&") {
            guard let end = rest[start...].firstIndex(of: ";"),
                let scalar = entity(String(rest[rest.index(after: start)..<end]))
            else { return nil }
            decoded.unicodeScalars += rest[..<start]
            decoded.unicodeScalars.append(scalar)
            rest = rest[rest.index(after: end)...]
        }
        decoded.unicodeScalars += rest
        return decoded
    }

    private static func entity(_ name: String) -> Unicode.Scalar? {
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            let isHex = name.hasPrefix("#x")
            guard isHex || name.hasPrefix("#") else { return nil }
            return UInt32(name.dropFirst(isHex ? 2 : 1), radix: isHex ? 16 : 10).flatMap(Unicode.Scalar.init)
        }
    }

    /// Escapes text so that it can be used in an element.
    static func encoded(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}

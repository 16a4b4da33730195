/// Removes comments from JavaScript. The sources can then have any number of comments, and browsers download only code.
///
/// Nothing else changes. Line breaks inside comments are kept, so that a line number in a browser's error is also the line number
/// in the file.
struct ScriptComments {
    private let script: [UInt8]
    private var position = 0
    private var output: [UInt8] = []
    /// The kind of the last token before `position`. White space and comments are not tokens.
    private var last = Token.operation
    private var open: [Bracket] = []

    /// The script without its comments.
    ///
    /// - Returns: nil if the script is malformed. Also nil if a `/` in the script may be either a division or the beginning of a
    ///   regular expression, because only a parser could decide this. Such a script should be served with its comments.
    static func removed(from script: [UInt8]) -> [UInt8]? {
        var comments = ScriptComments(script)
        return try? comments.remove()
    }

    private init(_ script: [UInt8]) {
        self.script = script
        output.reserveCapacity(script.count)
    }

    /// The kind of a token. It determines whether a `/` after the token is a division or begins a regular expression.
    private enum Token {
        /// A name, a literal, `]` or `)`. A `/` after it is a division.
        case operand
        /// Most punctuation, and keywords such as `return`. A `/` after it begins a regular expression.
        case operation
        /// The keywords `if`, `for`, `while` and `with`. A `/` after the parentheses that follow the keyword begins a regular
        /// expression.
        case control
        /// A single `.`. A name after it is a property, even if it is spelled like a keyword.
        case dot
        /// `}`, `++`, `--`, and names that are keywords only in some contexts. A `/` after such a token may be a division or begin
        /// a regular expression.
        case unclear
    }

    private enum Bracket {
        case parenthesis(afterControl: Bool)
        case brace
        /// The `${` that begins a substitution in a template literal.
        case substitution
    }

    private struct Unclear: Error {}

    private static let keywords: Set<String> = [
        "case", "default", "delete", "do", "else", "extends", "in", "instanceof", "new", "return", "throw", "typeof",
        "void",
    ]
    private static let controls: Set<String> = ["for", "if", "while", "with"]
    private static let contextual: Set<String> = ["await", "of", "yield"]

    private mutating func remove() throws(Unclear) -> [UInt8] {
        while position < script.count {
            let byte = script[position]
            switch byte {
            case UInt8(ascii: " "), 0x09...0x0d: copy()
            case UInt8(ascii: "'"), UInt8(ascii: "\""): try copyString(quote: byte)
            case UInt8(ascii: "`"): try copyTemplate()
            case UInt8(ascii: "/"): try readSlash()
            case _ where ScriptComments.isInName(byte): copyName()
            default: try copyPunctuation(byte)
            }
        }
        guard open.isEmpty else { throw Unclear() }
        return output
    }

    private func byte(after count: Int) -> UInt8? {
        position + count < script.count ? script[position + count] : nil
    }

    private mutating func copy(_ count: Int = 1) {
        output += script[position..<min(position + count, script.count)]
        position += count
    }

    private static func isInName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "#"),
            UInt8(ascii: "\\"), 0x80...:
            true
        default: false
        }
    }

    /// Copies a name, a keyword or a number.
    private mutating func copyName() {
        let start = position
        while let byte = byte(after: 0), ScriptComments.isInName(byte) { copy() }
        let bytes = script[start..<position]
        let name = String(decoding: bytes, as: UTF8.self)
        if bytes.contains(where: { $0 >= 0x80 || $0 == UInt8(ascii: "\\") }) {
            last = .unclear  // The name may contain a non-ASCII space, or be a keyword with escapes.
        } else if last == .dot {
            last = .operand
        } else if ScriptComments.keywords.contains(name) {
            last = .operation
        } else if ScriptComments.controls.contains(name) {
            last = .control
        } else if ScriptComments.contextual.contains(name) {
            if !(name == "await" && last == .control) { last = .unclear }  // `for await (` is like `for (`.
        } else {
            last = .operand
        }
    }

    private mutating func copyPunctuation(_ byte: UInt8) throws(Unclear) {
        switch byte {
        case UInt8(ascii: "("):
            open.append(.parenthesis(afterControl: last == .control))
            last = .operation
        case UInt8(ascii: ")"):
            guard case .parenthesis(let afterControl)? = open.popLast() else { throw Unclear() }
            last = afterControl ? .operation : .operand
        case UInt8(ascii: "{"):
            open.append(.brace)
            last = .operation
        case UInt8(ascii: "}"):
            switch open.popLast() {
            case .brace: last = .unclear
            case .substitution: return try copyTemplate()
            case .parenthesis, nil: throw Unclear()
            }
        case UInt8(ascii: "]"):
            last = .operand
        case UInt8(ascii: "."):
            if self.byte(after: 1) == byte, self.byte(after: 2) == byte {
                copy(2)
                last = .operation
            } else {
                last = .dot
            }
        case UInt8(ascii: "+"), UInt8(ascii: "-"):
            if self.byte(after: 1) == byte {
                copy()
                last = .unclear
            } else {
                last = .operation
            }
        default:
            last = .operation
        }
        copy()
    }

    private mutating func copyString(quote: UInt8) throws(Unclear) {
        copy()
        while let byte = byte(after: 0) {
            switch byte {
            case UInt8(ascii: "\\"): copy(2)
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): throw Unclear()
            default:
                copy()
                if byte == quote {
                    last = .operand
                    return
                }
            }
        }
        throw Unclear()
    }

    /// Copies a part of a template literal. It begins with the opening backquote, or the `}` that ends a substitution, and ends
    /// with the next `${` or the closing backquote.
    private mutating func copyTemplate() throws(Unclear) {
        copy()
        while let byte = byte(after: 0) {
            switch byte {
            case UInt8(ascii: "\\"): copy(2)
            case UInt8(ascii: "`"):
                copy()
                last = .operand
                return
            case UInt8(ascii: "$") where self.byte(after: 1) == UInt8(ascii: "{"):
                copy(2)
                open.append(.substitution)
                last = .operation
                return
            default: copy()
            }
        }
        throw Unclear()
    }

    private mutating func readSlash() throws(Unclear) {
        switch byte(after: 1) {
        case UInt8(ascii: "/"): skipLineComment()
        case UInt8(ascii: "*"): try skipBlockComment()
        default:
            switch last {
            case .operand, .dot:  // The dot is that of a number: `1. / 2`.
                copy()
                last = .operation
            case .operation, .control: try copyRegularExpression()
            case .unclear: throw Unclear()
            }
        }
    }

    private mutating func copyRegularExpression() throws(Unclear) {
        copy()
        var isInClass = false
        while let byte = byte(after: 0) {
            switch byte {
            case UInt8(ascii: "\\"): copy(2)
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): throw Unclear()
            case UInt8(ascii: "/") where !isInClass:
                copy()
                while let flag = self.byte(after: 0), ScriptComments.isInName(flag) { copy() }
                last = .operand
                return
            default:
                if byte == UInt8(ascii: "[") { isInClass = true }
                if byte == UInt8(ascii: "]") { isInClass = false }
                copy()
            }
        }
        throw Unclear()
    }

    /// The length in bytes of the line terminator at `position`; 0 if there is none.
    private var lineBreak: Int {
        switch byte(after: 0) {
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"): 1
        case 0xe2 where byte(after: 1) == 0x80 && (byte(after: 2) == 0xa8 || byte(after: 2) == 0xa9): 3
        default: 0
        }
    }

    private mutating func skipLineComment() {
        dropSpaces()
        while position < script.count, lineBreak == 0 { position += 1 }
    }

    /// Removes a block comment, but keeps its line breaks. A comment without line breaks is replaced by a space, so that the
    /// tokens before and after it remain separate.
    private mutating func skipBlockComment() throws(Unclear) {
        dropSpaces()
        position += 2
        let before = output.count
        while position < script.count {
            if script[position] == UInt8(ascii: "*"), byte(after: 1) == UInt8(ascii: "/") {
                position += 2
                if output.count == before { output.append(UInt8(ascii: " ")) }
                return
            }
            let count = lineBreak
            if count > 0 { copy(count) } else { position += 1 }
        }
        throw Unclear()
    }

    /// Removes the spaces before a comment. Otherwise they would remain at the end of the line.
    private mutating func dropSpaces() {
        while output.last == UInt8(ascii: " ") { output.removeLast() }
    }
}

/// The variables in a file that has the syntax of systemd's `EnvironmentFile=` (systemd.exec(5)).
///
/// Each line is one assignment. Lines that begin with `#` or `;`, and lines without `=`, are ignored. Quotes are removed. A
/// backslash escapes the next character. A backslash at the end of a line joins the line with the next line. Variables are not
/// expanded.
///
///     EnvironmentFile("HESPER_PORT=8080\nHESPER_MAIL_FROM='a b'").variables
struct EnvironmentFile: Equatable {
    private(set) var variables: [String: String] = [:]

    /// The states of systemd's parser (env-file.c in the sources of systemd).
    private enum State {
        case beforeKey, comment, key
        case beforeValue, value, escapeInValue
        case singleQuotes, doubleQuotes, escapeInDoubleQuotes
    }

    private static let newlines: Set<Unicode.Scalar> = ["\n", "\r"]
    private static let spaces: Set<Unicode.Scalar> = [" ", "\t", "\n", "\r"]
    /// The characters that a backslash escapes between double quotes. Before any other character, the backslash is literal.
    private static let escapable: Set<Unicode.Scalar> = ["\"", "\\", "`", "$"]

    init(_ text: String) {
        var state = State.beforeKey
        var (key, value) = ("", "")
        // The length of the value without trailing white space. Trailing white space is removed, unless it is quoted or escaped.
        var lengthToKeep = 0

        func end(into variables: inout [String: String]) {
            while let last = key.unicodeScalars.last, EnvironmentFile.spaces.contains(last) {
                key.unicodeScalars.removeLast()
            }
            if EnvironmentFile.isName(key) {
                variables[key] = String(value.unicodeScalars.prefix(lengthToKeep))
            }
            (key, value, lengthToKeep) = ("", "", 0)
        }
        func append(_ scalar: Unicode.Scalar, isKept: Bool = true) {
            value.unicodeScalars.append(scalar)
            if isKept { lengthToKeep = value.unicodeScalars.count }
        }

        for scalar in text.unicodeScalars {
            let (isNewline, isSpace) = (
                EnvironmentFile.newlines.contains(scalar), EnvironmentFile.spaces.contains(scalar)
            )
            switch state {
            case .beforeKey:
                if scalar == "#" || scalar == ";" {
                    state = .comment
                } else if !isSpace {
                    key.unicodeScalars.append(scalar)
                    state = .key
                }
            case .comment:
                if isNewline { state = .beforeKey }
            case .key:
                if isNewline {
                    key = ""
                    state = .beforeKey
                } else if scalar == "=" {
                    state = .beforeValue
                } else {
                    key.unicodeScalars.append(scalar)
                }
            case .beforeValue, .value:
                if isNewline {
                    end(into: &variables)
                    state = .beforeKey
                } else if scalar == "\\" {
                    state = .escapeInValue
                } else if state == .value {
                    append(scalar, isKept: !isSpace)
                } else if scalar == "'" {
                    state = .singleQuotes
                } else if scalar == "\"" {
                    state = .doubleQuotes
                } else if !isSpace {
                    append(scalar)
                    state = .value
                }
            case .escapeInValue:
                if !isNewline { append(scalar) }
                state = .value
            case .singleQuotes:
                if scalar == "'" { state = .beforeValue } else { append(scalar) }
            case .doubleQuotes:
                if scalar == "\"" {
                    state = .beforeValue
                } else if scalar == "\\" {
                    state = .escapeInDoubleQuotes
                } else {
                    append(scalar)
                }
            case .escapeInDoubleQuotes:
                if EnvironmentFile.escapable.contains(scalar) {
                    append(scalar)
                } else if !isNewline {
                    append("\\")
                    append(scalar)
                }
                state = .doubleQuotes
            }
        }
        switch state {
        case .beforeKey, .comment, .key: break
        case .beforeValue, .value, .escapeInValue, .singleQuotes, .doubleQuotes, .escapeInDoubleQuotes:
            end(into: &variables)
        }
    }

    /// Whether the name of a variable is valid. systemd ignores lines with an invalid name.
    private static func isName(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, !("0"..."9").contains(first) else { return false }
        return text.unicodeScalars.allSatisfy {
            ("a"..."z").contains($0) || ("A"..."Z").contains($0) || ("0"..."9").contains($0) || $0 == "_"
        }
    }
}

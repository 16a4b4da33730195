import Foundation

/// The user, the environment and the command that a systemd unit and its drop-in files define.
///
/// Of systemd's specifiers, only `%%` is expanded.
struct ServiceUnit: Equatable {
    /// The paths of the unit and the drop-in files that were read.
    private(set) var paths: [String] = []
    /// The name or ID of the user that runs the service. Nil for root.
    private(set) var user: String?
    private(set) var environment: [String: String] = [:]
    private(set) var environmentFiles: [File] = []
    /// The program that the service runs, and its arguments.
    private(set) var command: [String] = []

    struct File: Equatable {
        let path: String
        /// Whether the environment file may be missing. If it is false and the file is missing, systemd does not start the service.
        let isOptional: Bool
    }

    /// The folders in which systemd looks for units, in order of precedence (systemd.unit(5)).
    private static let folders = ["/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib"].map { "\($0)/systemd/system" }

    /// Reads a unit and then its drop-in files, in the order of their names.
    /// - Parameter root: the root of the file system.
    /// - Returns: nil if the unit does not exist.
    init?(named name: String, root: String = "") {
        let folders = ServiceUnit.folders.map { root + $0 }
        let manager = FileManager.default
        guard let unit = folders.map({ "\($0)/\(name)" }).first(where: manager.fileExists) else { return nil }
        var dropIns: [String: String] = [:]
        for folder in folders.reversed() {
            for file in (try? manager.contentsOfDirectory(atPath: "\(folder)/\(name).d")) ?? []
            where file.hasSuffix(".conf") {
                dropIns[file] = "\(folder)/\(name).d/\(file)"
            }
        }
        for path in [unit] + dropIns.sorted(by: { $0.key < $1.key }).map(\.value) {
            guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { continue }
            paths.append(path)
            read(text)
        }
    }

    private mutating func read(_ text: String) {
        var section = Substring()
        for line in ServiceUnit.lines(text) {
            if line.hasPrefix("[") {
                section = line.dropFirst().prefix { $0 != "]" }
                continue
            }
            guard section == "Service", let equals = line.firstIndex(of: "=") else { continue }
            let value = line[line.index(after: equals)...].trimmingCharacters(in: .whitespaces)
            set(line[..<equals].trimmingCharacters(in: .whitespaces), to: value)
        }
    }

    /// Applies one assignment of the section `Service`. An empty value removes all earlier values of the same key.
    private mutating func set(_ key: String, to value: String) {
        switch key {
        case "User":
            user = value.isEmpty ? nil : value
        case "Environment":
            if value.isEmpty { environment = [:] }
            for word in ServiceUnit.words(value) {
                guard let equals = word.firstIndex(of: "=") else { continue }
                environment[String(word[..<equals])] = String(word[word.index(after: equals)...])
            }
        case "EnvironmentFile":
            if value.isEmpty { environmentFiles = [] }
            let isOptional = value.hasPrefix("-")
            let path = isOptional ? String(value.dropFirst()) : value
            if path.hasPrefix("/") { environmentFiles.append(File(path: path, isOptional: isOptional)) }
        case "ExecStart":
            command = ServiceUnit.words(value)
            if let program = command.first { command[0] = String(program.drop { "@-:+!|".contains($0) }) }
        default: break
        }
    }

    /// The lines of a unit file without comments. A line that ends with a backslash is joined with the next.
    private static func lines(_ text: String) -> [String] {
        var lines: [String] = []
        var begun = ""
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmingCharacters(in: .whitespaces)
            guard !line.hasPrefix("#"), !line.hasPrefix(";") else { continue }
            guard line.hasSuffix("\\") else {
                lines.append(begun + line)
                begun = ""
                continue
            }
            begun += line.dropLast() + " "
        }
        return begun.isEmpty ? lines : lines + [begun]
    }

    /// Splits a value at spaces that are not quoted. A backslash escapes the next character.
    private static func words(_ text: String) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var isEscaped = false
        for character in text.replacing("%%", with: "%") {
            if isEscaped {
                word = (word ?? "") + String(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == quote {
                quote = nil
            } else if quote == nil, character == "\"" || character == "'" {
                quote = character
                word = word ?? ""
            } else if quote == nil, character == " " || character == "\t" {
                if let whole = word { words.append(whole) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        return words + [word].compactMap(\.self)
    }
}

import HesperModel

/// An item of a Joplin export. It is a Markdown file that ends with lines of properties.
///
///     Shopping
///
///     Milk and bread
///
///     id: 5ed24b4d1ffc4d1fb7fd1d8f4e4e6b1a
///     parent_id: 9c1d3a7c2d9e4f43a7a4a3a3b1b3d1f2
///     type_: 1
struct JoplinItem {
    enum Kind: Int64 {
        case note = 1
        case notebook = 2
        case resource = 4
        case tag = 5
        case noteTag = 6
    }

    let id: String
    let kind: Kind
    let title: String
    /// The text after the title. Empty lines at its beginning are removed.
    let body: Substring
    private var properties: [Substring: Substring] = [:]

    /// - Returns: nil if the text is not an item, or if it is an item of a kind that is not imported.
    init?(_ text: String) {
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        var end = lines.endIndex
        // Read backwards: the properties are the lines after the last empty line. Empty lines at the end of the file are skipped.
        while end > lines.startIndex, !lines[end - 1].isEmpty || properties.isEmpty {
            end -= 1
            let line = lines[end]
            if line.isEmpty { continue }
            guard let colon = line.firstIndex(of: ":") else { return nil }
            properties[line[..<colon]] = line[line.index(after: colon)...].drop { $0 == " " }
        }
        guard let id = properties["id"], JoplinItem.isID(id), let type = properties["type_"].flatMap({ Int64($0) }),
            let kind = Kind(rawValue: type)
        else { return nil }
        (self.id, self.kind) = (String(id), kind)
        let content = lines[..<max(end - 1, lines.startIndex)]
        title = content.first.map(String.init) ?? ""
        let rest = content.dropFirst().drop(while: \.isEmpty)
        if let first = rest.first, let last = rest.last {
            body = text[first.startIndex..<last.endIndex]
        } else {
            body = ""
        }
    }

    /// The value of a property; nil if the property does not exist or its value is empty.
    subscript(name: String) -> String? {
        guard let value = properties[name[...]], !value.isEmpty else { return nil }
        return String(value)
    }

    func isSet(_ name: String) -> Bool { self[name].map { $0 != "0" } ?? false }

    func date(_ name: String) -> Timestamp? { self[name].flatMap { Timestamp.loose($0) } }

    /// Whether a text is an ID: 32 hex digits.
    static func isID(_ text: some StringProtocol) -> Bool {
        text.utf8.count == 32 && text.allSatisfy { $0.isHexDigit && $0.isASCII }
    }
}

import HesperModel
import Yams

/// Formats parts of the contract, such as its examples, as indented JSON.
enum ContractExample {
    /// The node as indented JSON. If the node is a string, a number or another single value, the result is its text without quotes.
    static func text(_ node: Node) -> String {
        if case .scalar(let scalar) = node { return scalar.string }
        return json(node, indent: "")
    }

    private static func json(_ node: Node, indent: String) -> String {
        let inner = indent + "  "
        switch node {
        case .mapping(let mapping):
            guard !mapping.isEmpty else { return "{}" }
            let members = mapping.map {
                "\(inner)\(quoted($0.key.scalar?.string ?? "")): \(json($0.value, indent: inner))"
            }
            return "{\n\(members.joined(separator: ",\n"))\n\(indent)}"
        case .sequence(let sequence):
            guard !sequence.isEmpty else { return "[]" }
            return "[\n\(sequence.map { inner + json($0, indent: inner) }.joined(separator: ",\n"))\n\(indent)]"
        case .scalar(let scalar):
            switch node.tag.description {
            case Tag.Name.bool.rawValue, Tag.Name.int.rawValue, Tag.Name.float.rawValue, Tag.Name.null.rawValue:
                return scalar.string
            default: return quoted(scalar.string)
            }
        case .alias(let alias): return quoted(alias.anchor.rawValue)
        }
    }

    private static func quoted(_ text: String) -> String { String(decoding: JSON.string(text).bytes, as: UTF8.self) }
}

import Yams

/// `openapi.yaml`, as far as the page about it needs it.
struct Contract {
    struct Tag {
        let name: String
        let description: String
    }

    struct Operation {
        let id: String
        /// In upper case.
        let method: String
        let path: String
        let isOpen: Bool
        /// Those of the path, then those of the operation, with references resolved.
        let parameters: [Node]
        let node: Node
        let tag: String
    }

    static let methods = ["get", "head", "post", "put", "patch", "delete"]

    let root: Node
    private(set) var operations: [Operation] = []

    /// - Throws: an error of the YAML parser, or ``Failure`` if the document has no paths.
    init(yaml: String) throws {
        guard let root = try Yams.compose(yaml: yaml), root["paths"]?.mapping != nil else { throw Failure() }
        self.root = root
        for (path, item) in members(root["paths"]) {
            for method in Contract.methods {
                guard let node = item[method] else { continue }
                let parameters = [item["parameters"], node["parameters"]].compactMap { $0?.sequence }.joined()
                operations.append(
                    Operation(
                        id: node["operationId"]?.string ?? "", method: method.uppercased(), path: path,
                        isOpen: node["security"]?.sequence?.isEmpty == true, parameters: parameters.map(resolved),
                        node: node, tag: node["tags"]?.sequence?.first?.string ?? ""))
            }
        }
    }

    struct Failure: Error, CustomStringConvertible {
        let description = "The document is not an OpenAPI document: it has no paths."
    }

    var tags: [Tag] {
        (root["tags"]?.sequence ?? []).map {
            Tag(name: $0["name"]?.string ?? "", description: $0["description"]?.string ?? "")
        }
    }

    func operations(of tag: String) -> [Operation] { operations.filter { $0.tag == tag } }

    var schemas: [(String, Node)] { members(root["components"]?["schemas"]) }

    /// The members of a mapping, in their order, with references resolved.
    func members(_ node: Node?, resolving: Bool = true) -> [(String, Node)] {
        (node?.mapping ?? [:]).map { ($0.key.string ?? "", resolving ? resolved($0.value) : $0.value) }
    }

    /// The target of a reference within the document; other nodes unchanged.
    func resolved(_ node: Node) -> Node {
        guard let reference = node["$ref"]?.string, reference.hasPrefix("#/") else { return node }
        var target: Node? = root
        for part in reference.dropFirst(2).split(separator: "/") { target = target?[String(part)] }
        return target ?? node
    }
}

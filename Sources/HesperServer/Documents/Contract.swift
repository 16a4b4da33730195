import Yams

/// The parts of `openapi.yaml` that the HTML page about the API (``ContractPage``) shows.
struct Contract {
    struct Tag {
        let name: String
        let description: String
    }

    struct Operation {
        let id: String
        /// The HTTP method in upper case.
        let method: String
        let path: String
        let isOpen: Bool
        /// The parameters of the path, followed by the parameters of the operation. References are resolved.
        let parameters: [Node]
        let node: Node
        let tag: String
    }

    static let methods = ["get", "head", "post", "put", "patch", "delete"]

    let root: Node
    private(set) var operations: [Operation] = []

    /// Parses the contract from its YAML document.
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

    /// The members of a YAML mapping, in the order of the document. References are resolved unless `resolving` is false.
    func members(_ node: Node?, resolving: Bool = true) -> [(String, Node)] {
        (node?.mapping ?? [:]).map { ($0.key.string ?? "", resolving ? resolved($0.value) : $0.value) }
    }

    /// If the node is a reference within the document, the node to which it refers; otherwise the node itself.
    func resolved(_ node: Node) -> Node {
        guard let reference = node["$ref"]?.string, reference.hasPrefix("#/") else { return node }
        var target: Node? = root
        for part in reference.dropFirst(2).split(separator: "/") { target = target?[String(part)] }
        return target ?? node
    }
}

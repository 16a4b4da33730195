import Yams

/// The contract as an HTML page: all operations by tag, then all schemas as tables.
struct ContractPage {
    private let contract: Contract

    init(_ contract: Contract) { self.contract = contract }

    var page: HTMLPage {
        let info = contract.root["info"]
        let title = info?["title"]?.string ?? "API"
        let body = """
            <h1>\(HTMLPage.escape(title)) \(HTMLPage.escape(info?["version"]?.scalar?.string ?? ""))</h1>
            <p><a href="/openapi.yaml">openapi.yaml</a> <a href="/openapi.json">openapi.json</a></p>
            \(Markdown.html(info?["description"]?.string ?? ""))
            <nav><h2>Operations</h2>\(contract.tags.map(contents).joined())</nav>
            \(contract.tags.map(section).joined())
            <h2 id="schemas">Schemas</h2>
            \(contract.schemas.map(schema).joined())
            """
        return HTMLPage(title: "\(title): the API", body: body)
    }

    // MARK: Operations

    private func contents(_ tag: Contract.Tag) -> String {
        let items = contract.operations(of: tag.name).map {
            "<li><a href=\"#\($0.id)\"><code>\($0.method) \(HTMLPage.escape($0.path))</code></a></li>"
        }
        return "<h3>\(HTMLPage.escape(tag.name))</h3><ul>\(items.joined())</ul>"
    }

    private func section(_ tag: Contract.Tag) -> String {
        """
        <section><h2>\(HTMLPage.escape(tag.name))</h2>\(Markdown.html(tag.description))
        \(contract.operations(of: tag.name).map(operation).joined())</section>

        """
    }

    private func operation(_ operation: Contract.Operation) -> String {
        let node = operation.node
        let access = operation.isOpen ? "<p>Needs no sign-in.</p>" : ""
        return """
            <article id="\(operation.id)">
            <h3><code><span class="method">\(operation.method)</span> \(HTMLPage.escape(operation.path))</code></h3>
            <p><strong>\(Markdown.inline(node["summary"]?.string ?? ""))</strong> <code>\(operation.id)</code></p>
            \(Markdown.html(node["description"]?.string ?? ""))\(access)
            \(parameters(operation.parameters))
            \(body(node["requestBody"]))
            \(responses(node["responses"]))
            </article>

            """
    }

    private func parameters(_ parameters: [Node]) -> String {
        guard !parameters.isEmpty else { return "" }
        let rows = parameters.map { parameter in
            let required = parameter["required"]?.bool == true ? ", required" : ""
            let place = HTMLPage.escape(parameter["in"]?.string ?? "")
            return row(
                parameter["name"]?.string ?? "", "\(type(of: parameter["schema"])), in \(place)\(required)",
                parameter["description"]?.string)
        }
        return "<h4>Parameters</h4><table>\(rows.joined())</table>"
    }

    private func body(_ node: Node?) -> String {
        guard let node else { return "" }
        return "<h4>Body</h4>\(Markdown.html(node["description"]?.string ?? ""))\(content(node["content"]))"
    }

    private func responses(_ node: Node?) -> String {
        var html = "<h4>Responses</h4>"
        for (status, response) in contract.members(node) {
            let summary =
                "<code>\(HTMLPage.escape(status))</code> \(Markdown.inline(response["description"]?.string ?? ""))"
            // Responses with errors are collapsed, because their examples are similar.
            html +=
                status.hasPrefix("2")
                ? "<p>\(summary)</p>\(content(response["content"]))"
                : "<details><summary>\(summary)</summary>\(content(response["content"]))</details>"
        }
        return html
    }

    private func content(_ node: Node?) -> String {
        contract.members(node).map { mediaType, media in
            var html = "<p><code>\(HTMLPage.escape(mediaType))</code>: \(type(of: media["schema"]))</p>"
            if let example = media["example"] { html += pre(example) }
            for (_, example) in contract.members(media["examples"]) {
                html += "<p>\(Markdown.inline(example["summary"]?.string ?? ""))</p>"
                if let value = example["value"] { html += pre(value) }
            }
            return html
        }.joined()
    }

    private func pre(_ example: Node) -> String {
        "<pre><code>\(HTMLPage.escape(ContractExample.text(example)))</code></pre>"
    }

    // MARK: Schemas

    private func schema(_ name: String, _ node: Node) -> String {
        let required = node["required"]?.sequence?.compactMap(\.string) ?? []
        let rows = contract.members(node["properties"], resolving: false).map { field, schema in
            let kind = type(of: schema) + (required.contains(field) ? ", required" : "")
            return row(field, kind, schema["description"]?.string)
        }
        let closed = node["additionalProperties"]?.bool == false ? "<p>No other fields.</p>" : ""
        return """
            <article id="schema-\(HTMLPage.escape(name))"><h3>\(HTMLPage.escape(name))</h3>
            \(Markdown.html(node["description"]?.string ?? ""))\(closed)
            \(rows.isEmpty ? "" : "<table>\(rows.joined())</table>")</article>

            """
    }

    private func row(_ name: String, _ type: String, _ description: String?) -> String {
        """
        <tr><td><code>\(HTMLPage.escape(name))</code></td><td>\(type)</td><td>\(Markdown.html(description ?? ""))</td></tr>

        """
    }

    /// Describes a schema in a few words. If the schema has a name, the description is a link to it.
    private func type(of node: Node?) -> String {
        guard let node else { return "anything" }
        if let name = node["$ref"]?.string?.split(separator: "/").last {
            return "<a href=\"#schema-\(HTMLPage.escape(name))\">\(HTMLPage.escape(name))</a>"
        }
        switch node["type"]?.string {
        case "array"?: return "list of \(type(of: node["items"]))"
        case "object"? where node["additionalProperties"]?.mapping != nil:
            return "object of \(type(of: node["additionalProperties"]))"
        case let type?:
            return HTMLPage.escape([type, node["format"]?.string].compactMap(\.self).joined(separator: ", "))
        case nil: return "anything"
        }
    }
}

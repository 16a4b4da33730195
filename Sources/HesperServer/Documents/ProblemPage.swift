import HesperModel

/// The HTML page at the URL in the `type` of a problem. It explains the error and how a client should handle it (protocol.md,
/// Errors).
enum ProblemPage {
    static func page(of slug: Problem.Slug) -> HTMLPage {
        HTMLPage(
            title: "\(slug.title) – Hesper",
            body: """
                <h1>\(HTMLPage.escape(slug.title))</h1>
                <p><code>\(slug.rawValue)</code>, HTTP status \(slug.status)</p>
                <h2>What it means</h2>
                \(Markdown.html(slug.meaning))
                <h2>What to do</h2>
                \(Markdown.html(slug.remedy))
                <p><a href="/docs">API documentation</a></p>
                """)
    }
}

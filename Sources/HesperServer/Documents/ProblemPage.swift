import HesperModel

/// The page that a problem's `type` leads to: what it means, and what a client does about it (protocol.md, Errors).
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
                <p><a href="/docs">The whole API</a></p>
                """)
    }
}

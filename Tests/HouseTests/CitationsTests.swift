import Foundation
import Testing

/// Checks that pages and sections of docs/ that comments cite, such as "(merge.md, The digest)", exist, and that links between
/// pages are valid.
@Suite struct CitationsTests {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// A page of docs/ and a section of it, as cited in a comment.
    struct Citation: Hashable {
        let page: String
        /// Nil if the whole page is cited.
        let section: String?
        let file: String
    }

    @Test(arguments: ["Sources", "Tests"]) func citedSectionsExist(_ folder: String) throws {
        let citations = try CitationsTests.citations(in: folder)
        #expect(
            citations.contains { $0.section != nil },
            "no citations found in \(folder): the test does not recognize comments")
        for citation in citations {
            guard let headings = try CitationsTests.headings(of: citation.page) else {
                Issue.record("\(citation.file) cites \(citation.page), which does not exist in docs/")
                continue
            }
            guard let section = citation.section else { continue }
            // "HTTP rules and Errors" cites two sections, unless a section has that name.
            let exists =
                headings.contains(section) || section.components(separatedBy: " and ").allSatisfy(headings.contains)
            #expect(
                exists, "\(citation.file) cites \(citation.page), \(section), but there is no such section")
        }
    }

    @Test func headingsAreFound() throws {
        #expect(try CitationsTests.headings(of: "merge.md")?.contains("The digest") == true)
        #expect(try CitationsTests.headings(of: "nowhere.md") == nil)
    }

    @Test func citationsAreFoundAcrossLines() {
        let text =
            "/// How it is said (RFC 9457; clients.md; protocol.md, HTTP\n    /// rules): so. See merge.md, Clocks, Clock skew."
        let found = CitationsTests.citations(inText: text, file: "x")
        #expect(
            Set(found) == [
                Citation(page: "clients.md", section: nil, file: "x"),
                Citation(page: "protocol.md", section: "HTTP rules", file: "x"),
                Citation(page: "merge.md", section: "Clocks", file: "x"),
                Citation(page: "merge.md", section: "Clock skew", file: "x"),
            ])
    }

    @Test func linksBetweenPagesAreValid() throws {
        let docs = CitationsTests.root.appending(path: "docs")
        let pages = try FileManager.default.subpathsOfDirectory(atPath: docs.path).filter { $0.hasSuffix(".md") }
        #expect(!pages.isEmpty)
        for page in pages {
            let url = docs.appending(path: page)
            // Links in code are examples.
            let text = try String(contentsOf: url, encoding: .utf8).replacing(#/`[^`\n]*`/#, with: "")
            for match in text.matches(of: #/\]\(([^)\#:\s]+)(?:\#[^)\s]*)?\)/#) {
                let target = url.deletingLastPathComponent().appending(path: String(match.1))
                #expect(
                    FileManager.default.fileExists(atPath: target.path),
                    "docs/\(page) links to \(match.1), which does not exist")
            }
        }
    }

    @Test func filesNamedInTheArchitecturePageExist() throws {
        let files = try ["Sources", "Tests", "Public", "Tools", "Benchmarks"].flatMap { folder in
            try FileManager.default.subpathsOfDirectory(atPath: CitationsTests.root.appending(path: folder).path)
                .map { "/\(folder)/\($0)" }
        }
        let page = CitationsTests.root.appending(path: "docs/architecture.md")
        let names = try String(contentsOf: page, encoding: .utf8).matches(of: #/`([\w\/+.-]+\.(?:swift|js|py|sh))`/#)
        #expect(names.count > 50)
        for name in names {
            #expect(
                files.contains { $0.hasSuffix("/\(name.1)") },
                "docs/architecture.md names \(name.1), which does not exist")
        }
    }

    // MARK: Reading

    private static func citations(in folder: String) throws -> [Citation] {
        let folder = root.appending(path: folder)
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { ($0.hasSuffix(".swift") || $0.hasSuffix(".py")) && !$0.hasSuffix("CitationsTests.swift") }
        return try files.flatMap { file in
            citations(inText: try String(contentsOf: folder.appending(path: file), encoding: .utf8), file: file)
        }
    }

    /// Page names are in lower case and follow a space or a parenthesis. Section names begin with a capital letter and end at
    /// punctuation.
    private static func citations(inText text: String, file: String) -> [Citation] {
        // A comment may continue on the next line.
        let text = text.replacing(#/\n[ \t]*(?:///?|#)[ \t]*/#, with: " ")
        return text.matches(of: #/(?:^|[\s(])([a-z]+\.md)((?:, [A-Z][A-Za-z' ]*)*)/#).flatMap { match in
            let sections = match.2.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            return (sections.isEmpty ? [nil] : sections.map(Optional.some)).map {
                Citation(page: String(match.1), section: $0, file: file)
            }
        }
    }

    /// The headings of a page of docs/; nil if there is no such page.
    private static func headings(of page: String) throws -> Set<String>? {
        let url = root.appending(path: "docs/\(page)")
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
        return Set(lines.compactMap { line in line.prefixMatch(of: #/\#{1,6} +(.+)/#).map { String($0.1) } })
    }
}

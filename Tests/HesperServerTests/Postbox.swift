import Foundation
import HesperServer

/// A command for mail that is a script of a test's, and the letters that it has kept.
struct Postbox: Sendable {
    let folder: URL

    /// Keeps each letter in a file, under a name that sorts by its time, when it has all of it.
    static let keeps = #"f=$(mktemp "$1/$(date +%s%N)-XXXXXX") && cat > "$f" && mv "$f" "$f.eml""#

    /// - Parameter script: for `sh`; `$1` is the folder.
    init(_ script: String = Postbox.keeps) throws {
        folder = URL(filePath: FileManager.default.currentDirectoryPath)
            .appending(path: ".build/server-tests/\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try script.write(to: folder.appending(path: "script"), atomically: true, encoding: .utf8)
    }

    var text: String { "/bin/sh \(folder.path)/script \(folder.path)" }

    var settings: MailSettings? {
        guard let command = MailCommand(text), let from = MailAddress("hesper@example.org") else { return nil }
        return MailSettings(command: command, from: from, origin: "https://notes.example.org")
    }

    /// What it has by now, the first first.
    var kept: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".eml") }.sorted().compactMap {
            try? String(contentsOf: folder.appending(path: $0), encoding: .utf8)
        }
    }

    /// Waits until there are so many, for half a minute at most.
    func letters(_ count: Int) async throws -> [String] {
        for _ in 0..<1_500 {
            let kept = kept
            if kept.count >= count { return kept }
            try await Task.sleep(for: .milliseconds(20))
        }
        return kept
    }

    /// The first line of a file that the script writes, once it is there.
    func line(of name: String) async throws -> String? {
        for _ in 0..<1_500 {
            let text = try? String(contentsOf: folder.appending(path: name), encoding: .utf8)
            if let text, text.hasSuffix("\n") { return text.split(separator: "\n").first.map(String.init) }
            try await Task.sleep(for: .milliseconds(20))
        }
        return nil
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    /// The code in the link of a letter.
    static func code(in letter: String?) -> String? {
        letter?.firstMatch(of: #/https:\/\/notes\.example\.org\/[a-z-]+\?code=([0-9A-Z-]{29})\n/#).map { String($0.1) }
    }
}

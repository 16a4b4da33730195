import Foundation
import HesperServer

/// A mail command that runs a script, and the e-mails that the script has stored.
struct TestMailbox: Sendable {
    let folder: URL

    /// Stores each e-mail in a file whose name sorts by time, once it is complete.
    static let storeScript = #"f=$(mktemp "$1/$(date +%s%N)-XXXXXX") && cat > "$f" && mv "$f" "$f.eml""#

    /// - Parameter script: run with `sh`; `$1` is the folder.
    init(_ script: String = TestMailbox.storeScript) throws {
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

    /// The e-mails stored so far, the oldest first.
    var stored: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".eml") }.sorted().compactMap {
            try? String(contentsOf: folder.appending(path: $0), encoding: .utf8)
        }
    }

    /// Waits until this number of e-mails is stored, for at most half a minute.
    func emails(_ count: Int) async throws -> [String] {
        for _ in 0..<1_500 {
            let stored = stored
            if stored.count >= count { return stored }
            try await Task.sleep(for: .milliseconds(20))
        }
        return stored
    }

    /// Waits for a file that the script writes, and returns its first line.
    func line(of name: String) async throws -> String? {
        for _ in 0..<1_500 {
            let text = try? String(contentsOf: folder.appending(path: name), encoding: .utf8)
            if let text, text.hasSuffix("\n") { return text.split(separator: "\n").first.map(String.init) }
            try await Task.sleep(for: .milliseconds(20))
        }
        return nil
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    /// The code in the link of an e-mail.
    static func code(in email: String?) -> String? {
        email?.firstMatch(of: #/https:\/\/notes\.example\.org\/[a-z-]+\?code=([0-9A-Z-]{29})\n/#).map { String($0.1) }
    }
}

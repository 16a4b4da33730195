import ArgumentParser
import Foundation
import Testing

@testable import hesper

/// The table of settings in `Setting.swift` matches the command line options and docs/operating.md.
@Suite struct SettingsTableTests {
    @Test(arguments: Setting.allCases) func everySettingHasAnOption(_ setting: Setting) throws {
        #expect(try Serve.parse([setting.flag, "1"]).flags == [setting: ["1"]])
        let help = Serve.helpMessage(columns: 10_000)
        #expect(help.contains("\(setting.flag) <\(setting.row.value)>"))
        #expect(help.contains("\(setting.row.help) (\(setting.variable)"))
    }

    @Test func listOptionsCanBeRepeated() throws {
        let flags = try Serve.parse(["--cors-origin", "a", "--cors-origin", "b", "--trusted-proxy", "c"]).flags
        #expect(flags == [.corsOrigins: ["a", "b"], .trustedProxies: ["c"]])
        #expect(try Serve.parse([]).flags.isEmpty)
    }

    @Test func documentationHasTheSameTable() throws {
        let page = try String(contentsOf: URL(filePath: "docs/operating.md"), encoding: .utf8)
        let section = try #require(page.split(separator: "### All settings\n").last?.split(separator: "\n```").first)
        var rows = section.split(separator: "\n").filter { $0.hasPrefix("| `--") }.map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        // The path of the settings file cannot be set in the file.
        rows.removeAll { $0[0] == "`--config`" }
        let written = try rows.map { cells in
            // "`--cors-origin` (once for each)"
            try cells.prefix(3).map { try #require($0.split(separator: "`").first) }.joined(separator: " ") + " "
                + cells[3]
        }
        let table = Setting.allCases.map { "\($0.flag) \($0.variable) \($0.key) \($0.row.defaultText)" }
        #expect(written.sorted() == table.sorted())
    }
}

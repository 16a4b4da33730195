import Foundation
import Testing

/// Checks the dependencies between modules: the model imports no other module, the server no database, the stores no HTTP.
@Suite struct ImportsTests {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The modules of this package, and the others, that each module may import.
    static let rules: [(module: String, own: Set<String>, external: Set<String>)] = [
        ("HesperModel", [], ["Crypto", "Foundation"]),
        ("HesperStore", ["HesperModel"], ["CZlib", "Foundation", "NIOConcurrencyHelpers", "NIOCore"]),
        (
            "HesperBlobs", ["HesperModel", "HesperStore"],
            ["AsyncHTTPClient", "Crypto", "Foundation", "NIOConcurrencyHelpers", "NIOCore", "NIOHTTP1", "NIOPosix"]
        ),
        (
            "HesperArchive", ["HesperModel", "HesperStore"],
            ["CArchive", "Foundation", "NIOCore", "NIOPosix"]
        ),
        ("HesperMoveIn", ["HesperArchive", "HesperModel"], ["CXML2", "Crypto", "Foundation"]),
        (
            "HesperImport", ["HesperArchive", "HesperModel", "HesperMoveIn", "HesperStore"],
            ["Foundation", "NIOConcurrencyHelpers", "NIOCore", "NIOPosix"]
        ),
        (
            "HesperClient", ["HesperModel"],
            [
                "Crypto", "Foundation", "FoundationNetworking", "GRDB", "Observation", "SQLite3", "Security",
                "Synchronization",
            ]
        ),
        ("HesperClientTesting", ["HesperClient", "HesperModel"], ["Foundation", "Synchronization"]),
        (
            "HesperMirror", ["HesperClient", "HesperModel"],
            ["CFolder", "Crypto", "Dispatch", "Foundation"]
        ),
        ("HesperSQL", ["HesperModel", "HesperStore"], []),
        (
            "HesperSQLite", ["HesperModel", "HesperSQL", "HesperStore"],
            ["CSQLite", "Foundation", "GRDB", "SQLite3", "GRDBSQLite", "Synchronization", "Glibc"]
        ),
        (
            "HesperPostgres", ["HesperModel", "HesperSQL", "HesperStore"],
            ["CPostgres", "Foundation", "NIOConcurrencyHelpers", "NIOCore", "NIOPosix"]
        ),
    ]

    @Test(arguments: rules.indices) func modulesImportOnlyAllowedModules(_ index: Int) throws {
        let rule = ImportsTests.rules[index]
        let imports = try ImportsTests.imports(of: rule.module)
        #expect(!imports.isEmpty || rule.module == "HesperModel")
        for (name, file) in imports {
            #expect(
                rule.own.contains(name) || rule.external.contains(name),
                "\(file) imports \(name), which \(rule.module) must not import")
        }
    }

    @Test func theServerImportsNoDatabase() throws {
        let imports = try ImportsTests.imports(of: "HesperServer")
        #expect(imports.contains { $0.name == "HesperStore" })
        for (name, file) in imports {
            #expect(
                ![
                    "GRDB", "HesperSQL", "HesperSQLite", "SQLite3", "HesperPostgres", "CPostgres", "CArchive", "CXML2",
                    "hesper",
                ].contains(name),
                "\(file) imports \(name)")
        }
    }

    /// Requests to addresses that clients supply are made only where the addresses are checked. HesperBlobs makes requests to the
    /// bucket of attachments.
    @Test func onlyHesperBlobsAndWebhooksMakeRequests() throws {
        for module in [
            "HesperModel", "HesperStore", "HesperServer", "HesperArchive", "HesperMoveIn", "HesperImport", "HesperSQL",
            "HesperSQLite",
            "hesper",
        ] {
            for (name, file) in try ImportsTests.imports(of: module) where file != "Webhooks/WebhookSender.swift" {
                #expect(!["AsyncHTTPClient", "FoundationNetworking"].contains(name), "\(file) imports \(name)")
            }
        }
        #expect(try ImportsTests.imports(of: "HesperBlobs").contains { $0.name == "AsyncHTTPClient" })
    }

    @Test func onlyTheCommandImportsThemAll() throws {
        let names = Set(try ImportsTests.imports(of: "hesper").map(\.name))
        #expect(names.isSuperset(of: ["HesperPostgres", "HesperServer", "HesperSQLite"]))
    }

    private static func imports(of module: String) throws -> [(name: String, file: String)] {
        let folder = root.appending(path: "Sources/\(module)")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        #expect(!files.isEmpty, "Sources/\(module) is empty")
        return try files.flatMap { file in
            try String(contentsOf: folder.appending(path: file), encoding: .utf8).split(separator: "\n")
                .compactMap { line in
                    let words = line.split(separator: " ")
                    guard let index = words.firstIndex(of: "import"), index <= 1, index + 1 < words.count else {
                        return nil
                    }
                    let path = words[words.index(after: index)] == "struct" ? words[index + 2] : words[index + 1]
                    return (String(path.split(separator: ".")[0]), file)
                }
        }
    }
}

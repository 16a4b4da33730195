import Foundation

/// Where the files lie that are served as they are: `Public/` (the web app) and `openapi.yaml`.
struct ShareFolder {
    /// The folder `Public`.
    let webApp: String?
    /// The file `openapi.yaml`.
    let contract: String?
    /// What was not found, in sentences for the log.
    let missing: [String]

    static let webAppName = "Public"
    static let contractName = "openapi.yaml"
    private static let pageName = "index.html"

    /// Looks in the folder that was named, or else in `share/hesper` beside the folder of the binary, then in the working
    /// directory; for each by itself. The API needs none of it.
    static func find(
        named folder: String?, binary: String = ShareFolder.binary, workingDirectory: String = "."
    ) -> ShareFolder {
        let places =
            folder.map { [$0] } ?? [
                URL(filePath: binary).deletingLastPathComponent().appending(path: "../share/hesper").standardizedFileURL
                    .path,
                workingDirectory,
            ]
        func first(_ name: String, readable path: String) -> String? {
            places.first { FileManager.default.isReadableFile(atPath: URL(filePath: $0).appending(path: path).path) }
                .map { URL(filePath: $0).appending(path: name).path }
        }
        let webApp = first(webAppName, readable: "\(webAppName)/\(pageName)")
        let contract = first(contractName, readable: contractName)
        let searched = places.joined(separator: " or ")
        var missing: [String] = []
        if webApp == nil {
            missing.append("No \(webAppName)/\(pageName) in \(searched): the API runs without the web app.")
        }
        if contract == nil {
            missing.append("No \(contractName) in \(searched): the API runs without /openapi.yaml and /docs.")
        }
        return ShareFolder(webApp: webApp, contract: contract, missing: missing)
    }

    /// The binary that runs, links followed.
    static var binary: String {
        (Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])).resolvingSymlinksInPath().path
    }
}

import Foundation

/// The locations of the static files that a server delivers: the web app in `Public/`, and `openapi.yaml`.
struct ShareFolder {
    /// The path of the folder `Public`; nil if it was not found.
    let webApp: String?
    /// The path of the file `openapi.yaml`; nil if it was not found.
    let contract: String?
    /// A log message for each file that was not found.
    let missing: [String]

    static let webAppName = "Public"
    static let contractName = "openapi.yaml"
    private static let pageName = "index.html"

    /// Finds the static files in the configured folder. If no folder is configured, searches `share/hesper` beside the folder of
    /// the binary, and then the working directory. Each of `Public` and `openapi.yaml` is searched for separately. The API works
    /// even if neither is found.
    static func find(
        named folder: String?, binary: String = ShareFolder.binary, workingDirectory: String = "."
    ) -> ShareFolder {
        let folders =
            folder.map { [$0] } ?? [
                URL(filePath: binary).deletingLastPathComponent().appending(path: "../share/hesper").standardizedFileURL
                    .path,
                workingDirectory,
            ]
        func first(_ name: String, readable path: String) -> String? {
            folders.first { FileManager.default.isReadableFile(atPath: URL(filePath: $0).appending(path: path).path) }
                .map { URL(filePath: $0).appending(path: name).path }
        }
        let webApp = first(webAppName, readable: "\(webAppName)/\(pageName)")
        let contract = first(contractName, readable: contractName)
        let searched = folders.joined(separator: " or ")
        var missing: [String] = []
        if webApp == nil {
            missing.append("\(webAppName)/\(pageName) not found in \(searched). The web app is not available.")
        }
        if contract == nil {
            missing.append("\(contractName) not found in \(searched). /openapi.yaml and /docs are not available.")
        }
        return ShareFolder(webApp: webApp, contract: contract, missing: missing)
    }

    /// The path of the running binary, with symbolic links resolved.
    static var binary: String {
        (Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])).resolvingSymlinksInPath().path
    }
}

import Foundation

/// Where the files lie that are served as they are: `Public/` (the web app) and `openapi.yaml`.
struct ShareFolder {
    /// The file `openapi.yaml`.
    let contract: String?
    /// What was not found, in a sentence for the log.
    let missing: String?

    static let contractName = "openapi.yaml"

    /// Looks in the folder that was named, or else in `share/hesper` beside the folder of the binary, then in the working
    /// directory. The API needs none of it.
    static func find(
        named folder: String?, binary: String = ShareFolder.binary, workingDirectory: String = "."
    ) -> ShareFolder {
        let places =
            folder.map { [$0] } ?? [
                URL(filePath: binary).deletingLastPathComponent().appending(path: "../share/hesper").standardizedFileURL
                    .path,
                workingDirectory,
            ]
        let contract = places.lazy.map { URL(filePath: $0).appending(path: contractName).path }
            .first { FileManager.default.isReadableFile(atPath: $0) }
        guard contract == nil else { return ShareFolder(contract: contract, missing: nil) }
        return ShareFolder(
            contract: nil,
            missing:
                "No \(contractName) in \(places.joined(separator: " or ")): the API runs without /openapi.yaml and /docs."
        )
    }

    /// The binary that runs, links followed.
    static var binary: String {
        (Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])).resolvingSymlinksInPath().path
    }
}

import Crypto
import Foundation
import HesperModel

/// All files of the web app in the form in which they are served, by the path of their URL.
struct WebAppFiles: Sendable {
    private var files: [String: WebAppFile] = [:]

    static let page = "/"
    /// The path to which other apps share text (the `share_target` of the manifest). A request for it gets the same content as a
    /// request for ``page``. The web app saves the text only after a click, so that links of other sites to this path have no
    /// effect.
    static let capture = "/capture"
    static let shell = "/shell.js"
    private static let worker = "/sw.js"

    /// Reads the files of a listing from the disk.
    init(_ listing: WebAppListing, in folder: String) throws {
        for path in listing.entries.keys {
            let data = try Data(contentsOf: URL(filePath: folder).appending(path: path))
            let ending = path.split(separator: ".").last.map(String.init) ?? ""
            files[path == "index.html" ? WebAppFiles.page : "/" + path] = WebAppFile(Array(data), ending: ending)
        }
        files[WebAppFiles.shell] = WebAppFile(shell(), ending: "js")
    }

    subscript(path: String) -> WebAppFile? { files[path == WebAppFiles.capture ? WebAppFiles.page : path] }

    /// The script `/shell.js`. It tells the service worker which files to cache for offline use, and the digest of each file. The
    /// service worker imports this script. When a browser checks for a new version of the service worker, it also compares the
    /// imported scripts, so a change of any file causes an update.
    private func shell() -> [UInt8] {
        let listed = files.filter { $0.key != WebAppFiles.worker }.sorted { $0.key < $1.key }
        let names = listed.map { "\($0.key) \($0.value.integrity)\n" }.joined()
        let version = SHA256.hash(data: Data(names.utf8)).prefix(8).hex
        let shell = JSON.object(
            JSONObject([
                ("version", .string(version)),
                ("files", .object(JSONObject(listed.map { ($0.key, .string($0.value.integrity)) }))),
            ]))
        return Array("self.shell = ".utf8) + shell.bytes + Array("\n".utf8)
    }
}

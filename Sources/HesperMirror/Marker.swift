import Foundation
import HesperModel

/// The file `.hesper/folder.json`, which makes a folder a mirror. It contains no secrets, because the folder may be shared.
struct Marker: Codable, Equatable, Sendable {
    /// The ID of the folder, which is also the name of its state (``MirrorState``).
    var folder: String
    /// The name of the machine that syncs the folder.
    var host: String

    static let folderName = ".hesper"
    static let fileName = "folder.json"

    static var host: String { ProcessInfo.processInfo.hostName }

    /// Reads the marker of a folder; nil if there is none, or if the file cannot be opened.
    static func read(_ folder: Folder) throws -> Marker? {
        guard let (bytes, _) = try? folder.read("\(folderName)/\(fileName)") else { return nil }
        guard let marker = try? JSONDecoder().decode(Marker.self, from: bytes), UniqueID(marker.folder) != nil else {
            throw MirrorError(
                "\(folder.path)/\(folderName)/\(fileName) cannot be read. Remove \(folderName) to begin again.")
        }
        return marker
    }

    func write(_ folder: Folder) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let bytes = try encoder.encode(self) + Data("\n".utf8)
        let place = URL(filePath: folder.path).appending(path: Marker.folderName)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try bytes.write(to: place.appending(path: Marker.fileName), options: .atomic)
    }

    /// The path of the nearest mirror among the folders above a folder; nil if none of them is a mirror.
    static func mirror(above folder: Folder) -> String? {
        var url = URL(filePath: folder.path).deletingLastPathComponent()
        while true {
            if FileManager.default.fileExists(atPath: url.appending(path: "\(folderName)/\(fileName)").path) {
                return url.path
            }
            let parent = url.deletingLastPathComponent()
            if parent.path == url.path || parent.path.isEmpty || parent.path.hasPrefix("/..") { return nil }
            url = parent
        }
    }
}

/// The reason why the mirror stops, with a message for the user.
public struct MirrorError: Error, Equatable, CustomStringConvertible {
    public enum Kind: Int32, Sendable {
        case failed = 1
        /// A required option is missing, for example `--password-file` without a terminal, or the folder does not exist or is not
        /// synced.
        case usage = 2
        /// The user must sign in again.
        case signInAgain = 3
        /// The user must answer a question first.
        case question = 4
    }

    public let kind: Kind
    public let description: String

    init(_ description: String, _ kind: Kind = .failed) {
        self.kind = kind
        self.description = description
    }
}

import ArgumentParser
import Foundation
import HesperBlobs
import HesperSQLite
import HesperStore

/// Where the data is: what all commands have in common.
struct DataOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The folder of the data (HESPER_DATA; default: data).", valueName: "folder"))
    var data: String?

    @Option(
        help: ArgumentHelp(
            "Where the attachments' bytes are: a folder, or s3://bucket/prefix with the usual AWS variables "
                + "(HESPER_ATTACHMENTS; default: attachments in the data folder).", valueName: "place"))
    var attachments: String?

    @Option(
        help: ArgumentHelp(
            "A file of settings (HESPER_CONFIG; default: hesper.json in the data folder, if there is one).",
            valueName: "file"))
    var config: String?

    func settings(_ flags: [Setting: [String]] = [:]) throws -> Settings {
        var flags = flags
        if let data { flags[.data] = [data] }
        if let attachments { flags[.attachments] = [attachments] }
        return try Settings(flags: flags, config: config)
    }

    /// Where the bytes of attachments are: a folder, or a bucket.
    /// - Parameter isAway: told that the bucket's server is away, if the caller can go on without it for now.
    /// - Throws: ``Failure`` about a setting that leads nowhere.
    func openBlobs(unless isAway: ((StoreError) -> Void)? = nil) async throws -> any BlobStore {
        let place = try settings().attachments()
        guard S3Location.isMeant(by: place) else { return try FolderBlobs(path: place) }
        do {
            let blobs = S3Blobs(try S3Location(place, environment: ProcessInfo.processInfo.environment))
            do {
                try await blobs.check()
            } catch let error as StoreError {
                guard let isAway else { throw error }
                isAway(error)
            }
            return blobs
        } catch let error as S3LocationError {
            throw Failure("\(error).", .settings)
        }
    }

    /// Opens what a server has made.
    /// - Throws: ``Failure`` if nothing is there: a mistyped folder must not become a database.
    func openStore() throws -> SQLiteStore {
        let folder = URL(filePath: try settings().data)
        guard FileManager.default.fileExists(atPath: folder.appending(path: SQLiteStore.fileName).path) else {
            throw Failure(
                "\(folder.relativePath) has no \(SQLiteStore.fileName): name the data folder with --data or HESPER_DATA.",
                .settings)
        }
        return try SQLiteStore(folder: folder)
    }
}

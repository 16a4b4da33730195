import Foundation
import HesperBlobs
import HesperStore

extension Settings {
    /// Where the bytes of attachments are: a folder, or a bucket.
    /// - Parameter isAway: told that the bucket's server is away, if the caller can go on without it for now.
    /// - Throws: ``Failure`` about a setting that leads nowhere.
    func openBlobs(unless isAway: ((StoreError) -> Void)? = nil) async throws -> any BlobStore {
        let place = try attachments()
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
}

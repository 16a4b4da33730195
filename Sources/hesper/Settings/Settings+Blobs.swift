import Foundation
import HesperBlobs
import HesperStore

extension Settings {
    /// Opens the storage for attachments: a folder or a bucket.
    /// - Parameter onUnavailable: called with the error if the bucket is unavailable. The storage is opened nevertheless. If
    ///   `onUnavailable` is nil, the error is thrown.
    /// - Throws: ``Failure`` if a setting is invalid.
    func openBlobs(onUnavailable: ((StoreError) -> Void)? = nil) async throws -> any BlobStore {
        let location = try attachments()
        guard S3Location.isURL(location) else { return try FolderBlobs(path: location) }
        do {
            let blobs = S3Blobs(try S3Location(location, environment: ProcessInfo.processInfo.environment))
            do {
                try await blobs.check()
            } catch let error as StoreError {
                guard let onUnavailable else { throw error }
                onUnavailable(error)
            }
            return blobs
        } catch let error as S3LocationError {
            throw Failure("\(error).", .settings)
        }
    }
}

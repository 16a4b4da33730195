import HesperStore

extension S3Blobs {
    /// Converts errors of S3 to errors of ``BlobStore``. Other errors are rethrown unchanged.
    /// - Parameter name: the blob to report as missing if S3 responds that the object does not exist. If `name` is nil, this
    ///   response is converted like other errors of S3.
    func translating<T>(
        _ name: BlobName? = nil, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> T
    ) async throws -> T {
        try await S3Blobs.translated(name, body)
    }

    static func translated<T>(
        _ name: BlobName?, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> T
    ) async throws -> T {
        do {
            return try await body()
        } catch let failure as S3Failure {
            if let name, failure.isMissing { throw BlobMissing(name) }
            throw failure.storeError
        } catch is S3TooManyParts {
            throw StoreError.failed("S3: the data exceeds the maximum size of an object")
        }
    }
}

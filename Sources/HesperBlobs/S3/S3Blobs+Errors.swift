import HesperStore

extension S3Blobs {
    /// Gives what S3 says as everybody else understands it; the errors of others as they are.
    /// - Parameter name: of the blob that is missing, if S3 says that something is.
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
            throw StoreError.failed("S3: more bytes than one object can have")
        }
    }
}

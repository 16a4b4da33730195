public import Foundation
internal import HesperModel

extension LocalStore {
    /// The bytes of an attachment. If they are not on this device, they are downloaded before all other attachments.
    ///
    /// Large attachments are downloaded only by this method. ``data(of:)`` returns the bytes without downloading them.
    ///
    /// - Returns: nil if the bytes cannot be downloaded now; ``status`` has the reason. They are then downloaded later.
    public func download(_ id: Attachment.ID) async throws -> Data? {
        if let data = try await data(of: id) { return data }
        try await runner.want(id.uniqueID)
        return try await data(of: id)
    }
}

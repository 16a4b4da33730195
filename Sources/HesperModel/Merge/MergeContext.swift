extension Merge {
    /// The circumstances of a push: its sender, the time, and the state of the scope's clocks.
    public struct Context: Sendable {
        /// The server's wall clock.
        public var now: Timestamp
        /// The node of the installation.
        public var server: NodeID
        /// The last clock that the server made in this scope.
        public var serverClock: Clock?
        /// The greatest clock in the scope, by any node.
        public var greatestClock: Clock?
        /// Revoked devices and their moments. An edit whose clock is later than its device's moment is rejected (merge.md,
        /// Devices).
        public var revoked: [NodeID: Timestamp]
        /// The sequence number that the scope had when the server was restored from a backup; nil if it never was (merge.md,
        /// Text).
        public var restoredSequence: Int64?
        /// The device that pushes; nil for the server.
        public var sender: NodeID?
        public var bounds = Bounds()
        /// The account's storage use; nil if the quota need not be checked element by element.
        public var storageUse: StorageUse?

        public init(
            now: Timestamp, server: NodeID, serverClock: Clock?, greatestClock: Clock?,
            revoked: [NodeID: Timestamp] = [:], restoredSequence: Int64? = nil, sender: NodeID? = nil,
            storageUse: StorageUse? = nil
        ) {
            self.restoredSequence = restoredSequence
            self.sender = sender
            self.storageUse = storageUse
            self.revoked = revoked
            self.now = now
            self.server = server
            self.serverClock = serverClock
            self.greatestClock = greatestClock
        }
    }

    /// Limits on the work that a merge does while its scope is locked.
    public struct Bounds: Sendable {
        /// Text merges that were prepared without the lock; nil if all texts are merged under the lock, whatever their size.
        public var texts: PreparedTexts?
        /// The maximum number of bytes of texts that are merged without preparation.
        public var textBytes = 256 << 10
        /// The maximum size of the stored bodies that a merge loads into memory, in bytes.
        public var loadBytes = 256 << 20

        public init() {}

        /// The limits for the push of a device.
        public static func device(_ texts: PreparedTexts?) -> Bounds {
            var bounds = Bounds()
            bounds.texts = texts
            bounds.loadBytes = Limits.pushLoadBytes
            return bounds
        }
    }

    /// The bytes that an account stores before the push, and its quota.
    public struct StorageUse: Sendable, Equatable {
        public let used: Int64
        public let limit: Int64

        public init(used: Int64, limit: Int64) {
            self.used = used
            self.limit = limit
        }

        /// Whether the push fits even if all of it is new. If so, its elements need not be checked one by one.
        public func fits(_ push: Push) -> Bool { Int64(push.maximumStoredBytes) <= limit - used }
    }
}

extension Merge {
    /// The circumstances of a push: its sender, the time, and the state of the scope's clocks.
    public struct Context: Sendable {
        /// The time of the server's wall clock.
        public var now: Timestamp
        /// The node ID of this server installation.
        public var server: NodeID
        /// The greatest clock that the server made in this scope; nil if it made none.
        public var serverClock: Clock?
        /// The greatest clock in the scope, by any node; nil if there is none.
        public var greatestClock: Clock?
        /// The revoked devices, each with the time after which its edits are rejected (merge.md, Devices).
        public var revoked: [NodeID: Timestamp]
        /// The sequence number that the scope had when the server was restored from a backup. Nil if the server was never
        /// restored (merge.md, Text).
        public var restoredSequence: Int64?
        /// The device that pushes. Nil if the server itself pushes.
        public var sender: NodeID?
        public var bounds = Bounds()
        /// The account's storage use, against which each element is checked. Nil if no element needs to be checked.
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
        /// Text merges that were computed before the scope was locked. If nil, texts of any size are merged while the scope is
        /// locked.
        public var texts: PreparedTexts?
        /// The maximum total size, in bytes, of the texts that are merged while the scope is locked. Merges beyond this size must
        /// be in `texts`.
        public var textBytes = 256 << 10
        /// The maximum total size of the stored bodies that a merge loads into memory, in bytes.
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

    /// The number of bytes that an account stores before the push, and its quota.
    public struct StorageUse: Sendable, Equatable {
        public let used: Int64
        public let limit: Int64

        public init(used: Int64, limit: Int64) {
            self.used = used
            self.limit = limit
        }

        /// Whether the push fits into the quota even if all of its edits are new. If so, its elements need not be checked one
        /// by one.
        public func fits(_ push: Push) -> Bool { Int64(push.maximumStoredBytes) <= limit - used }
    }
}

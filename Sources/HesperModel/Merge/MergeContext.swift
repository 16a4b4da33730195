extension Merge {
    /// Who pushes, when, and how far the clocks of the scope are.
    public struct Context: Sendable {
        /// The server's wall clock.
        public var now: Timestamp
        /// The node of the installation.
        public var server: NodeID
        /// The last clock that the server ticked in this scope.
        public var serverClock: Clock?
        /// The greatest clock in the scope, by whomever.
        public var greatestClock: Clock?
        /// Devices that were revoked as lost, and the moments from which on nothing that they made is taken (merge.md, Devices).
        public var revoked: [NodeID: Timestamp]
        /// Where the scope stood when the server was restored from a backup; nil if it never was (merge.md, Text).
        public var restoredSequence: Int64?
        /// The device that pushes; nil for the server itself.
        public var sender: NodeID?
        public var bounds = Bounds()
        /// What the account stores and may store; nil if no element needs to be judged by it.
        public var room: Room?

        public init(
            now: Timestamp, server: NodeID, serverClock: Clock?, greatestClock: Clock?,
            revoked: [NodeID: Timestamp] = [:], restoredSequence: Int64? = nil, sender: NodeID? = nil,
            room: Room? = nil
        ) {
            self.restoredSequence = restoredSequence
            self.sender = sender
            self.room = room
            self.revoked = revoked
            self.now = now
            self.server = server
            self.serverClock = serverClock
            self.greatestClock = greatestClock
        }
    }

    /// How much a merge may do itself, while its scope is locked.
    public struct Bounds: Sendable {
        /// Merges of texts that were prepared; nil if all texts are merged here, however large they are.
        public var texts: PreparedTexts?
        /// The maximum number of bytes of texts that are merged here without preparation.
        public var textBytes = 256 << 10
        /// The maximum of what may be loaded of the bag, in bytes of bodies: all of it is in memory.
        public var loadBytes = 256 << 20

        public init() {}

        /// For the push of a device.
        public static func device(_ texts: PreparedTexts?) -> Bounds {
            var bounds = Bounds()
            bounds.texts = texts
            bounds.loadBytes = Limits.pushLoadBytes
            return bounds
        }
    }

    /// How many bytes an account stores before the push, and how many it may.
    public struct Room: Sendable, Equatable {
        public let used: Int64
        public let limit: Int64

        public init(used: Int64, limit: Int64) {
            self.used = used
            self.limit = limit
        }

        /// Whether a push fits, without looking at what it changes: then none of its elements needs to be judged.
        public func fits(_ push: Push) -> Bool { Int64(push.greatestBytes) <= limit - used }
    }
}

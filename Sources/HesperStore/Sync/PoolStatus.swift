/// The state of a pool of connections to a database server.
public struct PoolStatus: Sendable, Equatable {
    /// The maximum number of connections in the pool.
    public let limit: Int
    public let busy: Int
    public let idle: Int
    /// The number of requests that are waiting for a connection.
    public let waiting: Int

    public init(limit: Int, busy: Int, idle: Int, waiting: Int) {
        self.limit = limit
        self.busy = busy
        self.idle = idle
        self.waiting = waiting
    }
}

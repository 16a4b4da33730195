/// How busy the connections to a database server are.
public struct PoolStatus: Sendable, Equatable {
    /// How many there may be.
    public let limit: Int
    public let busy: Int
    public let idle: Int
    /// Requests that wait for one.
    public let waiting: Int

    public init(limit: Int, busy: Int, idle: Int, waiting: Int) {
        self.limit = limit
        self.busy = busy
        self.idle = idle
        self.waiting = waiting
    }
}

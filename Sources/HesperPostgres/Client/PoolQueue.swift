import HesperStore
import NIOCore

/// Something to do on a connection of a pool.
struct PoolJob: Sendable {
    /// Whether it may wait for a commit.
    let writes: Bool
    /// Gives back what tells who asked for it: for when the connection is free again.
    let perform: @Sendable (Connection) -> () -> Void
    let refuse: @Sendable (StoreError) -> Void
    fileprivate(set) var number = 0
    /// Ends its waiting.
    fileprivate(set) var timer: Scheduled<Void>?

    init(
        writes: Bool, perform: @escaping @Sendable (Connection) -> () -> Void,
        refuse: @escaping @Sendable (StoreError) -> Void
    ) {
        self.writes = writes
        self.perform = perform
        self.refuse = refuse
    }
}

/// The jobs of a pool, first come, first served. Those that write have only so many connections at once: when their commits
/// wait for a standby that is lost, those who only read go on with the others.
struct PoolQueue: Sendable {
    /// How many may be done at once.
    private let size: Int
    /// How many of these may write.
    private let writers: Int
    private(set) var running = 0
    private var writing = 0
    private var waitingToRead = CircularBuffer<PoolJob>()
    private var waitingToWrite = CircularBuffer<PoolJob>()
    private var lastNumber = 0

    /// Jobs of a kind that may wait at once: more would only wait in vain.
    private static let limit = 10_000

    init(size: Int, writers: Int) {
        self.size = size
        self.writers = writers
    }

    /// How many wait.
    var waiting: Int { waitingToRead.count + waitingToWrite.count }

    /// - Returns: whether it may be done at once; then it counts as begun.
    mutating func begin(_ job: PoolJob) -> Bool {
        guard running < size, !job.writes || writing < writers else { return false }
        running += 1
        if job.writes { writing += 1 }
        return true
    }

    /// Lets one wait that may not begin.
    /// - Parameter timer: what ends the waiting of the job of that number.
    /// - Returns: false if too many wait.
    mutating func wait(_ job: PoolJob, timer: (Int) -> Scheduled<Void>) -> Bool {
        guard (job.writes ? waitingToWrite : waitingToRead).count < PoolQueue.limit else { return false }
        lastNumber += 1
        var job = job
        job.number = lastNumber
        job.timer = timer(lastNumber)
        if job.writes { waitingToWrite.append(job) } else { waitingToRead.append(job) }
        return true
    }

    /// Ends a job, and begins the one that came first of those that may be done now, if there is any.
    mutating func next(after job: PoolJob) -> PoolJob? {
        running -= 1
        if job.writes { writing -= 1 }
        let reader = waitingToRead.first?.number ?? .max
        let writer = writing < writers ? waitingToWrite.first?.number ?? .max : .max
        guard let next = writer < reader ? waitingToWrite.popFirst() : waitingToRead.popFirst() else { return nil }
        running += 1
        if next.writes { writing += 1 }
        return next
    }

    /// Takes one out that waits.
    mutating func remove(_ number: Int) -> PoolJob? {
        if let index = waitingToRead.firstIndex(where: { $0.number == number }) {
            return waitingToRead.remove(at: index)
        }
        guard let index = waitingToWrite.firstIndex(where: { $0.number == number }) else { return nil }
        return waitingToWrite.remove(at: index)
    }
}

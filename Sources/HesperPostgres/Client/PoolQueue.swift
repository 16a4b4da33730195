import HesperStore
import NIOCore

/// A job that runs on a connection of a pool.
struct PoolJob: Sendable {
    /// Whether the job commits changes.
    let writes: Bool
    /// Runs the job. Returns a closure that reports the result to the caller of the job. The pool must call the closure when the
    /// connection is free again.
    let perform: @Sendable (Connection) -> () -> Void
    let refuse: @Sendable (StoreError) -> Void
    fileprivate(set) var number = 0
    /// The timer that removes the job from the queue if it has waited too long; nil if the job did not wait.
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

/// The jobs of a pool, in order of arrival. The number of concurrent writing jobs is limited, so that reading jobs can continue
/// while commits wait for a lost standby.
struct PoolQueue: Sendable {
    /// The maximum number of running jobs.
    private let size: Int
    /// The maximum number of running jobs that write.
    private let writers: Int
    private(set) var running = 0
    private var writing = 0
    private var waitingToRead = CircularBuffer<PoolJob>()
    private var waitingToWrite = CircularBuffer<PoolJob>()
    private var lastNumber = 0

    /// The maximum number of waiting jobs, separately for jobs that read and jobs that write. Further jobs would time out before
    /// they could run.
    private static let limit = 10_000

    init(size: Int, writers: Int) {
        self.size = size
        self.writers = writers
    }

    /// The number of waiting jobs.
    var waiting: Int { waitingToRead.count + waitingToWrite.count }

    /// Marks a job as running if a connection is free for it.
    /// - Returns: whether the job was marked as running. If so, the caller must run the job.
    mutating func begin(_ job: PoolJob) -> Bool {
        guard running < size, !job.writes || writing < writers else { return false }
        running += 1
        if job.writes { writing += 1 }
        return true
    }

    /// Queues a job that could not be started.
    /// - Parameter timer: a function that creates a timer for the job with the given number. The timer removes the job from the
    ///   queue if it has waited too long.
    /// - Returns: false if the queue is full.
    mutating func wait(_ job: PoolJob, timer: (Int) -> Scheduled<Void>) -> Bool {
        guard (job.writes ? waitingToWrite : waitingToRead).count < PoolQueue.limit else { return false }
        lastNumber += 1
        var job = job
        job.number = lastNumber
        job.timer = timer(lastNumber)
        if job.writes { waitingToWrite.append(job) } else { waitingToRead.append(job) }
        return true
    }

    /// Marks a job as ended. Removes the oldest waiting job that may run now, marks it as running, and returns it; nil if there is
    /// none.
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

    /// Removes and returns the waiting job with this number; nil if no such job is waiting.
    mutating func remove(_ number: Int) -> PoolJob? {
        if let index = waitingToRead.firstIndex(where: { $0.number == number }) {
            return waitingToRead.remove(at: index)
        }
        guard let index = waitingToWrite.firstIndex(where: { $0.number == number }) else { return nil }
        return waitingToWrite.remove(at: index)
    }
}

import Foundation

/// Runs the tasks that write to the database, one task at a time. While a commit waits for the disk, the task blocks its thread.
final class WriterExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "hesper.writer")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

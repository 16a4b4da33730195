import Foundation

/// Runs tasks that write, one after another. They block their thread while a commit waits for the disk.
final class WriterExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "hesper.writer")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

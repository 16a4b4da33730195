import Foundation

/// Runs the tasks of imports on threads of their own. Unpacking and parsing block a thread for minutes, and the threads that serve
/// requests are as few as the processor has cores.
final class ImportExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "hesper.import", qos: .utility, attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

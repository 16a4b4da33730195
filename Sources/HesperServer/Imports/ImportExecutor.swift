import Foundation

/// Runs the tasks of imports on separate threads. Unpacking and parsing block a thread for minutes, and only one thread per core
/// serves requests.
final class ImportExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "hesper.import", qos: .utility, attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

import Dispatch
import Foundation

/// Wakes the mirror when the folder changes, when another task requests it, and regularly. The scan that follows finds the
/// changes, so a lost event does no harm.
final class WakeUps {
    /// The wake-ups. All wake-ups that the mirror has not processed yet are combined into one element. The stream ends when the
    /// user ends the process.
    let stream: AsyncStream<Void>
    /// The continuation of ``stream``, with which other tasks wake the mirror.
    let continuation: AsyncStream<Void>.Continuation
    private let path: String
    private let notifier: Int32
    private var sources: [any DispatchSourceProtocol] = []
    private let queue = DispatchQueue(label: "hesper.mirror")

    /// The time between regular wake-ups, in seconds, if the system reports changes of the folder.
    private static let interval = 30.0
    /// The time between regular wake-ups, in seconds, if the system does not report changes of the folder.
    private static let pollingInterval = 5.0
    /// The time between a change of the folder and the wake-up. Several changes within this time usually cause a single wake-up.
    private static let delay = DispatchTimeInterval.milliseconds(100)

    init(_ path: String) {
        self.path = path
        (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        #if canImport(Glibc)
            notifier = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        #else
            notifier = -1
        #endif
        start()
        watch()
        wake()
    }

    private func start() {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        let interval = notifier >= 0 ? WakeUps.interval : WakeUps.pollingInterval
        timer.schedule(deadline: .now() + interval, repeating: interval, leeway: .seconds(1))
        timer.setEventHandler { [continuation] in continuation.yield() }
        var all: [any DispatchSourceProtocol] = [timer]
        if notifier >= 0 {
            let events = DispatchSource.makeReadSource(fileDescriptor: notifier, queue: queue)
            events.setEventHandler { [notifier, queue, continuation] in
                var buffer = [UInt8](repeating: 0, count: 1 << 16)
                while systemRead(notifier, &buffer, buffer.count) > 0 {}
                queue.asyncAfter(deadline: .now() + WakeUps.delay) { continuation.yield() }
            }
            events.setCancelHandler { [notifier] in close(notifier) }
            all.append(events)
        }
        for number in [SIGINT, SIGTERM] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { [continuation] in
                continuation.finish()
                // The default action of the signal is restored, so that a second signal ends the process at once.
                signal(number, SIG_DFL)
            }
            all.append(source)
        }
        for source in all { source.resume() }
        sources = all
    }

    func wake() { continuation.yield() }

    func wake(after delay: DispatchTimeInterval) {
        queue.asyncAfter(deadline: .now() + delay) { [continuation] in continuation.yield() }
    }

    /// Watches all folders, also new ones. If there are too many for the system, the regular scans find the changes in the
    /// folders that are not watched.
    func watch() {
        #if canImport(Glibc)
            guard notifier >= 0 else { return }
            let mask = UInt32(
                IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB
                    | IN_ONLYDIR)
            func add(_ folder: String) {
                guard inotify_add_watch(notifier, folder, mask) >= 0 else { return }
                guard let stream = opendir(folder) else { return }
                defer { closedir(stream) }
                while let entry = readdir(stream) {
                    guard entry.pointee.d_type == UInt8(DT_DIR) else { continue }
                    let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(validatingCString: $0) }
                    }
                    if let name, !name.hasPrefix(".") { add("\(folder)/\(name)") }
                }
            }
            add(path)
        #endif
    }

    func end() {
        for source in sources { source.cancel() }
        sources = []
    }
}

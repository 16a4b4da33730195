import Foundation

/// What the system knows of this process, under the names that Prometheus's own libraries use. Linux only.
struct ProcessStatus {
    let residentBytes: Int64
    let cpuSeconds: Double
    let openFiles: Int
    let startSeconds: Double

    /// When this was first asked: the server's start, near enough.
    private static let start = Date().timeIntervalSince1970

    static func begin() { _ = start }

    /// - Returns: nil where there is no `/proc`.
    static func now() -> ProcessStatus? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
            let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        else { return nil }
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int64($0) } ?? 0
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return ProcessStatus(
            residentBytes: pages * Int64(sysconf(Int32(_SC_PAGESIZE))),
            cpuSeconds: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9, openFiles: files.count,
            startSeconds: start)
    }

    func add(to text: inout MetricsText) {
        text.gauge("process_resident_memory_bytes", "Memory that the process has.", residentBytes)
        text.counter("process_cpu_seconds_total", "Time that it has computed.", cpuSeconds)
        text.gauge("process_open_fds", "Files and connections that it has open.", openFiles)
        text.gauge("process_start_time_seconds", "When it started, since 1970.", startSeconds)
    }
}

import Foundation

/// The resources that this process uses. The metrics have the same names as in Prometheus's client libraries. Linux only.
struct ProcessStatus {
    let residentBytes: Int64
    let cpuSeconds: Double
    let openFiles: Int
    let startSeconds: Double

    /// The start of the server, as Unix time. A static property is initialized when it is first read, so ``begin()`` reads it when
    /// the server starts.
    private static let start = Date().timeIntervalSince1970

    static func begin() { _ = start }

    /// Reads the resources that the process uses now.
    /// - Returns: the current values; nil on systems without `/proc`.
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
        text.gauge("process_resident_memory_bytes", "Resident memory in bytes.", residentBytes)
        text.counter("process_cpu_seconds_total", "User and system CPU time in seconds.", cpuSeconds)
        text.gauge("process_open_fds", "Open file descriptors.", openFiles)
        text.gauge("process_start_time_seconds", "Start of the process, as Unix time.", startSeconds)
    }
}

import Foundation
import HesperModel
import HesperServer
import Logging

/// Writes log lines to stderr. Each line is written with a single call, so that lines of different threads are not interleaved.
struct LineLogHandler: LogHandler {
    let format: LogFormat
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    /// Writes the bytes of a line. Tests replace this function.
    var write: @Sendable ([UInt8]) -> Void = LineLogHandler.writeToStandardError

    init(format: LogFormat, logLevel: Logger.Level) {
        self.format = format
        self.logLevel = logLevel
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        if let own = event.metadata { all.merge(own) { $1 } }
        let line = LogLine(date: .now, level: event.level, message: event.message.description, metadata: all)
        write(format == .json ? line.json : Array(line.text.utf8))
    }

    /// Writes a line to stderr, usually with one system call. Errors are ignored, so that a server continues if stderr is
    /// closed.
    private static func writeToStandardError(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Foundation.write(
                    STDERR_FILENO, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                guard count > 0 || errno == EINTR else { return }
                rest = rest.dropFirst(max(count, 0))
            }
        }
    }
}

/// The format of log lines.
enum LogFormat: String, CaseIterable {
    /// Readable text.
    case text
    /// One JSON object per line.
    case json
}

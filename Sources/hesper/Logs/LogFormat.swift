/// How lines of the log are written.
enum LogFormat: String, CaseIterable {
    /// For people.
    case text
    /// An object a line, for programs.
    case json
}

import Foundation

/// Functions for the input and output of commands.
enum Terminal {
    /// Prints a result as a line on stdout, without buffering.
    static func printLine(_ line: String) { write(line + "\n", to: .standardOutput) }

    /// Prints an error or warning as a line on stderr.
    static func printError(_ line: String) { write("hesper: \(line)\n", to: .standardError) }

    /// Writes a text. Errors are ignored, so that a server continues when its output is closed.
    static func write(_ text: String, to handle: FileHandle) { try? handle.write(contentsOf: Data(text.utf8)) }

    static var readsKeyboard: Bool { isatty(STDIN_FILENO) == 1 }
    /// Whether stderr is a terminal. On a terminal, a line of progress can be overwritten.
    static var showsProgress: Bool { isatty(STDERR_FILENO) == 1 }

    /// Asks a question on stderr, because stdout is for results, and reads one line of input. Returns nil if there is no input.
    static func prompt(_ question: String) -> String? {
        write(question, to: .standardError)
        return readLine(strippingNewline: true)
    }
}

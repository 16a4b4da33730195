import Foundation

/// The person at the other end, or whatever reads in their place.
enum Terminal {
    /// A result: one line on stdout, at once, also where that is a pipe.
    static func say(_ line: String) { write(line + "\n", to: .standardOutput) }

    /// Something that is not as it should be: one line on stderr.
    static func complain(_ line: String) { write("hesper: \(line)\n", to: .standardError) }

    /// A server goes on though nobody listens to what it says any more.
    static func write(_ text: String, to handle: FileHandle) { try? handle.write(contentsOf: Data(text.utf8)) }

    static var readsKeyboard: Bool { isatty(STDIN_FILENO) == 1 }
    /// Whether a line on stderr can be written over.
    static var showsProgress: Bool { isatty(STDERR_FILENO) == 1 }

    /// Asks on stderr, so that stdout keeps to results.
    static func ask(_ question: String) -> String? {
        write(question, to: .standardError)
        return readLine(strippingNewline: true)
    }
}

import Foundation

/// The person at the other end, or whatever reads in their place.
enum Terminal {
    /// A result: one line on stdout, at once, also where that is a pipe.
    static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    /// Something that is not as it should be: one line on stderr.
    static func complain(_ line: String) { FileHandle.standardError.write(Data("hesper: \(line)\n".utf8)) }

    static var readsKeyboard: Bool { isatty(STDIN_FILENO) == 1 }
    /// Whether a line on stderr can be written over.
    static var showsProgress: Bool { isatty(STDERR_FILENO) == 1 }

    /// Asks on stderr, so that stdout keeps to results.
    static func ask(_ question: String) -> String? {
        FileHandle.standardError.write(Data(question.utf8))
        return readLine(strippingNewline: true)
    }

    /// Asks for what nobody should read over a shoulder.
    static func askSecretly(_ question: String) -> String? {
        var before = termios()
        guard tcgetattr(STDIN_FILENO, &before) == 0 else { return nil }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
            FileHandle.standardError.write(Data("\n".utf8))
        }
        return ask(question)
    }
}

import Foundation

/// Asks for what nobody should read over a shoulder: what is typed is not shown.
enum SecretPrompt {
    /// How the terminal was before it was asked to show nothing. Written before the handler that reads it is set, and by
    /// nobody while that is.
    nonisolated(unsafe) private static var before = termios()

    /// - Returns: nil if nothing can be asked, or nothing was answered.
    static func ask(_ question: String) -> String? {
        guard tcgetattr(STDIN_FILENO, &before) == 0 else { return nil }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO)
        // Whoever gives up here (Ctrl-C) keeps a terminal that shows what is typed.
        let interrupted = signal(SIGINT) { number in
            SecretPrompt.show()
            signal(number, SIG_DFL)
            raise(number)
        }
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        defer {
            show()
            signal(SIGINT, interrupted)
            Terminal.write("\n", to: .standardError)
        }
        return Terminal.ask(question)
    }

    private static func show() { tcsetattr(STDIN_FILENO, TCSANOW, &before) }
}

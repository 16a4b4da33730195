import Foundation

/// Prompts for a secret without echoing the input.
enum SecretPrompt {
    /// The terminal settings before echo was disabled. The signal handler reads this variable. Access is safe, because the handler
    /// is installed only after the variable was written.
    nonisolated(unsafe) private static var before = termios()

    /// Prompts for a secret on the terminal.
    /// - Returns: nil if there is no terminal or no input.
    static func read(_ question: String) -> String? {
        guard tcgetattr(STDIN_FILENO, &before) == 0 else { return nil }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO)
        // Restore echo if the user interrupts the prompt (Ctrl-C).
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
        return Terminal.prompt(question)
    }

    private static func show() { tcsetattr(STDIN_FILENO, TCSANOW, &before) }
}

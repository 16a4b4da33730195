import ArgumentParser
import Foundation
import HesperModel

/// Reads a password from a file, from a terminal or from standard input. A password is not accepted on the command line, because
/// all users of the machine can read it there.
struct PasswordOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A file with the password in its first line (default: prompt on a terminal, or the first line of stdin).",
            valueName: "file"))
    var passwordFile: String?

    /// Reads and validates the password.
    /// - Throws: ``Failure`` if there is no password, or if the password is too short or too long.
    func read() throws -> String {
        guard let password = try text() else { throw Failure("No password was given.", .usage) }
        let (length, limits) = (password.utf8.count, Limits.passwordBytes)
        guard limits.contains(length) else {
            throw Failure(
                "The password must have \(limits.lowerBound) to \(limits.upperBound) bytes, not \(length).", .usage)
        }
        return password
    }

    private func text() throws -> String? {
        if let passwordFile { return try PasswordOptions.firstLine(of: passwordFile) }
        guard Terminal.readsKeyboard else { return readLine(strippingNewline: true) }
        let password = SecretPrompt.read("Password: ")
        guard password == SecretPrompt.read("Repeat password: ") else {
            throw Failure("The passwords do not match. Nothing was changed.", .usage)
        }
        return password
    }

    static func firstLine(of file: String) throws -> String? {
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: file))
        } catch {
            throw Failure("Cannot read the password file \(file).", .usage)
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw Failure("The password file \(file) is not valid UTF-8.", .usage)
        }
        return text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).first.map(String.init)
    }
}

import ArgumentParser
import Foundation
import HesperModel

/// Where a password comes from: never the command line, which every user of the machine can read.
struct PasswordOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A file whose first line is the password. Without it: asked for on a terminal, else the first line of stdin.",
            valueName: "file"))
    var passwordFile: String?

    /// - Throws: ``Failure`` if there is none, or one that is too short or too long.
    func read() throws -> String {
        guard let password = try text() else { throw Failure("There was no password to read.", .usage) }
        let (length, limits) = (password.utf8.count, Limits.passwordBytes)
        guard limits.contains(length) else {
            throw Failure("A password has \(limits.lowerBound) to \(limits.upperBound) bytes, not \(length).", .usage)
        }
        return password
    }

    private func text() throws -> String? {
        if let passwordFile { return try PasswordOptions.firstLine(of: passwordFile) }
        guard Terminal.readsKeyboard else { return readLine(strippingNewline: true) }
        let password = SecretPrompt.ask("Password: ")
        guard password == SecretPrompt.ask("The same again: ") else {
            throw Failure("The two passwords differ; nothing was changed.", .usage)
        }
        return password
    }

    private static func firstLine(of file: String) throws -> String? {
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: file))
        } catch {
            throw Failure("The password file \(file) cannot be read.", .usage)
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw Failure("The password file \(file) is not UTF-8.", .usage)
        }
        return text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).first.map(String.init)
    }
}

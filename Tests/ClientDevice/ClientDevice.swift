import Foundation
import HesperClient

/// An app on ``LocalStore`` that the black-box tests control: it reads one command a line from standard input, and writes one
/// line of JSON for each. Its folder contains the local copy, `copy.sqlite`, and what the device remembers outside of it, `state`.
///
///     $ client-device /tmp/device
///     {"open": {}}
///     {"value": null}
///     {"makeNote": {"text": "Milk", "tags": []}}
///     {"value": "5f0c5a1e-6d0b-4c8e-9d3a-2b7f4e1c8a90"}
@main struct ClientDevice {
    static func main() async throws {
        guard CommandLine.arguments.count == 2 else {
            FileHandle.standardError.write(Data("usage: client-device FOLDER\n".utf8))
            exit(2)
        }
        let device = Device(folder: URL(filePath: CommandLine.arguments[1]))
        while let line = readLine() {
            let answer: Answer
            do {
                answer = .value(try await device.carryOut(JSONDecoder().decode(Command.self, from: Data(line.utf8))))
            } catch {
                answer = Answer(error)
            }
            FileHandle.standardOutput.write(try JSONEncoder().encode(answer) + Data("\n".utf8))
        }
    }
}

/// The answer to a command: its result, or the name of an error with its description.
enum Answer: Encodable {
    case value(any Encodable & Sendable)
    case error(String, String)

    init(_ error: any Error) {
        let name =
            switch error {
            case StoreError.notFound: "notFound"
            case StoreError.diskFull: "diskFull"
            case StoreError.damaged: "damaged"
            case StoreError.unavailable: "unavailable"
            case AccountError.otherAccount: "otherAccount"
            default: "\(type(of: error))"
            }
        self = .error(name, "\(error)")
    }

    private enum Keys: String, CodingKey { case value, error, description }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        switch self {
        case .value(let value): try value.encode(to: container.superEncoder(forKey: .value))
        case .error(let name, let description):
            try container.encode(name, forKey: .error)
            try container.encode(description, forKey: .description)
        }
    }
}

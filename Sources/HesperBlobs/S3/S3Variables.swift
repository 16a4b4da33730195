import Foundation

/// Reads and validates environment variables.
struct S3Variables {
    private let environment: [String: String]

    init(_ environment: [String: String]) { self.environment = environment }

    subscript(name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// Returns the value of a variable that contains a key or token. The value must consist of printable ASCII characters without
    /// spaces.
    func token(_ name: String) throws -> String {
        guard let value = self[name] else { throw S3LocationError(name, "must be set") }
        guard value.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw S3LocationError(name, "must consist of printable ASCII characters without spaces or line breaks")
        }
        return value
    }

    func region() throws -> String? {
        for name in ["AWS_REGION", "AWS_DEFAULT_REGION"] {
            guard let value = self[name] else { continue }
            guard value.wholeMatch(of: #/[A-Za-z0-9\-]{1,64}/#) != nil else {
                throw S3LocationError(name, "must consist of letters, digits and hyphens, not \"\(value)\"")
            }
            return value
        }
        return nil
    }

    func endpoint() throws -> S3Endpoint? {
        for name in ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"] {
            guard let value = self[name] else { continue }
            guard let endpoint = S3Endpoint(value) else {
                throw S3LocationError(name, "must have the form https://host:port, not \"\(value)\"")
            }
            return endpoint
        }
        return nil
    }

    func flag(_ name: String) throws -> Bool? {
        switch self[name] {
        case nil: nil
        case "true"?, "1"?: true
        case "false"?, "0"?: false
        case let value?: throw S3LocationError(name, "must be true or false, not \"\(value)\"")
        }
    }
}

import Foundation

/// The environment, read with an eye to what people paste into it.
struct S3Variables {
    private let environment: [String: String]

    init(_ environment: [String: String]) { self.environment = environment }

    subscript(name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// A key: printable ASCII without spaces.
    func token(_ name: String) throws -> String {
        guard let value = self[name] else { throw S3LocationError(name, "is not set") }
        guard value.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw S3LocationError(name, "has a space, a line break or another character in it that no key has")
        }
        return value
    }

    func region() throws -> String? {
        for name in ["AWS_REGION", "AWS_DEFAULT_REGION"] {
            guard let value = self[name] else { continue }
            guard value.wholeMatch(of: #/[A-Za-z0-9\-]{1,64}/#) != nil else {
                throw S3LocationError(name, "is \"\(value)\", which is no region: letters, digits and hyphens")
            }
            return value
        }
        return nil
    }

    func endpoint() throws -> S3Endpoint? {
        for name in ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"] {
            guard let value = self[name] else { continue }
            guard let endpoint = S3Endpoint(value) else {
                throw S3LocationError(name, "is \"\(value)\", and not of the form https://host:port")
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
        case let value?: throw S3LocationError(name, "is \"\(value)\", and not true or false")
        }
    }
}

import Foundation

/// A bucket, a prefix of all keys, and the endpoint, region and credentials with which the bucket is accessed.
///
///     let location = try S3Location("s3://notes/home", environment: ProcessInfo.processInfo.environment)
///
/// The URL contains the bucket and the prefix. The other values are read from the usual environment variables:
/// - `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, and `AWS_SESSION_TOKEN` for temporary credentials.
/// - `AWS_REGION` or `AWS_DEFAULT_REGION`: the region. If an endpoint is set, the default is `us-east-1`.
/// - `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL`: the URL of a service other than Amazon S3, with `http://` or `https://`.
/// - `HESPER_S3_PATH_STYLE`: `true` if the path of a request contains the bucket, `false` if the host name contains the bucket. The
///   default is `true` if an endpoint is set, or if the name of the bucket contains dots. Otherwise, the default is `false`. (If
///   the name of a bucket contains dots, the TLS certificate of Amazon S3 does not cover the host name of the bucket.)
///
/// A variable that is set to an empty string is treated as not set.
public struct S3Location: Sendable, Equatable {
    let bucket: String
    /// The prefix of all keys, without a slash at either end. It is empty if the whole bucket is used.
    let prefix: String
    let endpoint: S3Endpoint
    let region: String
    let isPathStyle: Bool
    let credentials: S3Credentials

    /// Reads the location from a URL and environment variables.
    /// - Throws: ``S3LocationError``, which names the setting to correct.
    public init(_ url: String, environment: [String: String]) throws {
        (bucket, prefix) = try S3Location.bucket(in: url)
        let variables = S3Variables(environment)
        credentials = S3Credentials(
            accessKeyID: try variables.token("AWS_ACCESS_KEY_ID"),
            secretAccessKey: try variables.token("AWS_SECRET_ACCESS_KEY"),
            sessionToken: variables["AWS_SESSION_TOKEN"] == nil ? nil : try variables.token("AWS_SESSION_TOKEN"))
        let region = try variables.region()
        if let own = try variables.endpoint() {
            endpoint = own
            self.region = region ?? "us-east-1"
            isPathStyle = try variables.flag("HESPER_S3_PATH_STYLE") ?? true
        } else {
            guard let region else {
                throw S3LocationError("AWS_REGION", "must be set to the region of the bucket, such as eu-central-1")
            }
            endpoint = S3Endpoint(region: region)
            self.region = region
            isPathStyle = try variables.flag("HESPER_S3_PATH_STYLE") ?? bucket.contains(".")
        }
    }

    /// Whether a text is the URL of a bucket and not a path in the file system.
    public static func isURL(_ text: String) -> Bool { text.hasPrefix("s3:") }

    static let setting = "HESPER_ATTACHMENTS"

    private static func bucket(in url: String) throws -> (bucket: String, prefix: String) {
        guard url.hasPrefix("s3://") else {
            throw S3LocationError(setting, "must have the form s3://bucket/prefix, not \(url)")
        }
        var parts = url.dropFirst("s3://".count).split(separator: "/", omittingEmptySubsequences: false)
        if parts.count > 1, parts.last == "" { parts.removeLast() }
        let bucket = String(parts[0])
        guard bucket.wholeMatch(of: #/[a-z0-9][a-z0-9.\-]{1,61}[a-z0-9]/#) != nil else {
            throw S3LocationError(
                setting,
                "has an invalid bucket name, \"\(bucket)\": a name must have 3 to 63 characters of a-z, 0-9, dots and "
                    + "hyphens, with a letter or digit at both ends")
        }
        for part in parts.dropFirst() {
            // These are the characters that S3 documents as safe in keys.
            guard part.wholeMatch(of: #/[A-Za-z0-9!\-_.*'()]+/#) != nil, part != ".", part != ".." else {
                throw S3LocationError(
                    setting,
                    "has an invalid prefix, \"\(part)\": each part between slashes must consist of letters, digits and "
                        + "!-_.*'()"
                )
            }
        }
        return (bucket, parts.dropFirst().joined(separator: "/"))
    }
}

extension S3Location: CustomStringConvertible {
    public var description: String { "s3://\(bucket)\(prefix.isEmpty ? "" : "/")\(prefix) at \(endpoint)" }
}

/// The error for an invalid S3 setting.
public struct S3LocationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The name of the invalid setting: a setting of Hesper, or an environment variable such as `AWS_ACCESS_KEY_ID`.
    public let variable: String
    /// A description of the problem. It follows the name of the setting in a message.
    public let reason: String

    init(_ variable: String, _ reason: String) {
        self.variable = variable
        self.reason = reason
    }

    public var description: String { "\(variable) \(reason)" }
}

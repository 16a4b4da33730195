import Foundation

/// A bucket, a place in it, and the way there.
///
///     let location = try S3Location("s3://notes/home", environment: ProcessInfo.processInfo.environment)
///
/// The environment says the rest, in the usual variables:
/// - `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`; `AWS_SESSION_TOKEN` where there is one;
/// - `AWS_REGION`, or `AWS_DEFAULT_REGION`; with an endpoint of one's own it may be left out and is `us-east-1`;
/// - `AWS_ENDPOINT_URL_S3`, or `AWS_ENDPOINT_URL`: of a server that is not Amazon's, `http://` or `https://`;
/// - `HESPER_S3_PATH_STYLE`, `true` or `false`: whether the bucket is named in the path or in the host's name. Left out,
///   it is in the path at an endpoint of one's own, and in the name at Amazon's, unless it has dots, which no
///   certificate covers.
///
/// One that is set but empty counts as not set.
public struct S3Location: Sendable, Equatable {
    let bucket: String
    /// Without a slash at either end; empty for the whole bucket.
    let prefix: String
    let endpoint: S3Endpoint
    let region: String
    let isPathStyle: Bool
    let credentials: S3Credentials

    /// - Throws: ``S3LocationError``, which names the setting that is wrong.
    public init(_ url: String, environment: [String: String]) throws {
        (bucket, prefix) = try S3Location.bucket(in: url)
        let variables = S3Variables(environment)
        credentials = S3Credentials(
            accessKeyID: try variables.token("AWS_ACCESS_KEY_ID"),
            secretAccessKey: try variables.token("AWS_SECRET_ACCESS_KEY"),
            sessionToken: variables["AWS_SESSION_TOKEN"] == nil ? nil : try variables.token("AWS_SESSION_TOKEN"))
        let given = try variables.region()
        if let own = try variables.endpoint() {
            endpoint = own
            region = given ?? "us-east-1"
            isPathStyle = try variables.flag("HESPER_S3_PATH_STYLE") ?? true
        } else {
            guard let given else {
                throw S3LocationError("AWS_REGION", "is not set: the region of the bucket, such as eu-central-1")
            }
            endpoint = S3Endpoint(region: given)
            region = given
            isPathStyle = try variables.flag("HESPER_S3_PATH_STYLE") ?? bucket.contains(".")
        }
    }

    /// Whether a text is meant to be one.
    public static func isMeant(by text: String) -> Bool { text.hasPrefix("s3:") }

    static let setting = "HESPER_ATTACHMENTS"

    private static func bucket(in url: String) throws -> (bucket: String, prefix: String) {
        guard url.hasPrefix("s3://") else {
            throw S3LocationError(setting, "is \(url), and not of the form s3://bucket/prefix")
        }
        var parts = url.dropFirst("s3://".count).split(separator: "/", omittingEmptySubsequences: false)
        if parts.count > 1, parts.last == "" { parts.removeLast() }
        let bucket = String(parts[0])
        guard bucket.wholeMatch(of: #/[a-z0-9][a-z0-9.\-]{1,61}[a-z0-9]/#) != nil else {
            throw S3LocationError(
                setting,
                "names the bucket \"\(bucket)\": 3 to 63 of a-z, 0-9, dots and hyphens, a letter or digit at both ends")
        }
        for part in parts.dropFirst() {
            // What S3 documents as safe in keys.
            guard part.wholeMatch(of: #/[A-Za-z0-9!\-_.*'()]+/#) != nil, part != ".", part != ".." else {
                throw S3LocationError(
                    setting, "has \"\(part)\" in its prefix: letters, digits and any of !-_.*'() between single slashes"
                )
            }
        }
        return (bucket, parts.dropFirst().joined(separator: "/"))
    }
}

extension S3Location: CustomStringConvertible {
    public var description: String { "s3://\(bucket)\(prefix.isEmpty ? "" : "/")\(prefix) at \(endpoint)" }
}

/// A setting that does not lead to a bucket.
public struct S3LocationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The name of the setting or the environment variable.
    public let variable: String
    /// What is wrong with it, to be read after its name.
    public let reason: String

    init(_ variable: String, _ reason: String) {
        self.variable = variable
        self.reason = reason
    }

    public var description: String { "\(variable) \(reason)" }
}

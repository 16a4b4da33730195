import HesperStore
import NIOHTTP1

/// An error response of S3.
struct S3Failure: Error, Sendable {
    /// The method and the URL of the request, without secrets.
    let what: String
    let status: HTTPResponseStatus
    /// The error code of S3, such as `NoSuchKey`; nil if the response contains no code, for example because it is a response to
    /// HEAD.
    let code: String?
    /// The region of the bucket, if the request was sent to another region; otherwise nil.
    var region: String?

    /// Whether a retry of the request may succeed.
    var isTransient: Bool {
        guard !isFull else { return false }
        switch status.code {
        case 408, 425, 429, 500, 502, 503, 504: return true
        default:
            return [
                "InternalError", "OperationAborted", "RequestTimeout", "ServiceUnavailable", "SlowDown",
                // These codes mean that the body was corrupted in transit.
                "BadDigest", "XAmzContentSHA256Mismatch", "IncompleteBody",
            ].contains(code)
        }
    }

    var isMissing: Bool { status == .notFound && (code == nil || code == "NoSuchKey") }

    var isFull: Bool {
        guard status != .insufficientStorage else { return true }
        guard let code else { return false }
        return ["Quota", "StorageFull", "InsufficientStorage"].contains { code.contains($0) }
    }

    /// The corresponding error for callers outside this module. An error that the operator can correct becomes
    /// ``StoreError/unavailable(_:)``, so that the operation is retried later.
    var storeError: StoreError {
        if isFull { return .full(description) }
        switch status {
        case .rangeNotSatisfiable: return .damaged("\(description): the object is shorter than expected")
        // If the session token has expired, S3 responds to HEAD with the status 400 and no error code. Therefore the status 400
        // without an error code is not treated as a permanent failure.
        case .badRequest where code != nil && !isTransient && !isAboutCredentials, .methodNotAllowed, .lengthRequired,
            .notImplemented:
            return .failed(description)
        default: return .unavailable(description)
        }
    }

    private var isAboutCredentials: Bool {
        ["AuthorizationHeaderMalformed", "ExpiredToken", "InvalidToken", "RequestTimeTooSkewed"].contains(code)
    }

    /// The setting that the operator must correct; nil if the error is not caused by a setting.
    func settingError(in location: S3Location) -> S3LocationError? {
        switch code {
        case "InvalidAccessKeyId": S3LocationError("AWS_ACCESS_KEY_ID", "is not a known access key at \(location)")
        case "SignatureDoesNotMatch":
            S3LocationError("AWS_SECRET_ACCESS_KEY", "does not match AWS_ACCESS_KEY_ID at \(location)")
        case "ExpiredToken", "InvalidToken", "TokenRefreshRequired":
            S3LocationError("AWS_SESSION_TOKEN", "is invalid or has expired at \(location)")
        case "AccessDenied", "AllAccessDisabled":
            S3LocationError("AWS_ACCESS_KEY_ID", "has no permission to read, write and list \(location)")
        case "NoSuchBucket", "InvalidBucketName":
            S3LocationError(S3Location.setting, "names a bucket that does not exist: \(location)")
        case "AuthorizationHeaderMalformed", "PermanentRedirect", "IllegalLocationConstraintException":
            S3LocationError(
                "AWS_REGION",
                "is \(location.region)\(region.map { "; the bucket is in \($0)" } ?? ", which is not the region of the bucket")"
            )
        case "RequestTimeTooSkewed": nil
        default:
            switch status {
            case .movedPermanently, .temporaryRedirect:
                S3LocationError(
                    "AWS_REGION",
                    "is \(location.region)\(region.map { "; the bucket is in \($0)" } ?? ", which is not the region of the bucket")"
                )
            case .unauthorized, .forbidden: S3LocationError("AWS_ACCESS_KEY_ID", "is refused: \(self)")
            case .notFound, .methodNotAllowed:
                S3LocationError("AWS_ENDPOINT_URL_S3", "is \(location.endpoint), which is not an S3 service: \(self)")
            default: nil
            }
        }
    }
}

extension S3Failure: CustomStringConvertible {
    var description: String { "S3: \(what): \(status.code)\(code.map { " \($0)" } ?? "")" }
}

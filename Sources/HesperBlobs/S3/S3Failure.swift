import HesperStore
import NIOHTTP1

/// What S3 answered instead of what it was asked for.
struct S3Failure: Error, Sendable {
    /// What was asked, without anything secret.
    let what: String
    let status: HTTPResponseStatus
    /// S3's word for it, such as `NoSuchKey`; nil if the answer had none, as those to HEAD have not.
    let code: String?
    /// The region that the bucket is in, if that is what is wrong.
    var region: String?

    /// Whether the same may go well in a moment.
    var mayPass: Bool {
        guard !isFull else { return false }
        switch status.code {
        case 408, 425, 429, 500, 502, 503, 504: return true
        default:
            return [
                "InternalError", "OperationAborted", "RequestTimeout", "ServiceUnavailable", "SlowDown",
                // The bytes were changed on the way.
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

    /// As everybody else sees it. What an operator can mend is a store that is away: it comes back.
    var storeError: StoreError {
        if isFull { return .full(description) }
        switch status {
        case .rangeNotSatisfiable: return .damaged("\(description): the object is shorter than it was")
        // A 400 without a code is the answer to HEAD when a token has expired.
        case .badRequest where code != nil && !mayPass && !isAboutCredentials, .methodNotAllowed, .lengthRequired,
            .notImplemented:
            return .failed(description)
        default: return .unavailable(description)
        }
    }

    private var isAboutCredentials: Bool {
        ["AuthorizationHeaderMalformed", "ExpiredToken", "InvalidToken", "RequestTimeTooSkewed"].contains(code)
    }

    /// What to set right, if the settings are to blame.
    func mistake(in location: S3Location) -> S3LocationError? {
        switch code {
        case "InvalidAccessKeyId": S3LocationError("AWS_ACCESS_KEY_ID", "is a key that is not known at \(location)")
        case "SignatureDoesNotMatch":
            S3LocationError("AWS_SECRET_ACCESS_KEY", "is not the one that belongs to AWS_ACCESS_KEY_ID at \(location)")
        case "ExpiredToken", "InvalidToken", "TokenRefreshRequired":
            S3LocationError("AWS_SESSION_TOKEN", "is not valid, or no longer, at \(location)")
        case "AccessDenied", "AllAccessDisabled":
            S3LocationError("AWS_ACCESS_KEY_ID", "may not read, write and list \(location)")
        case "NoSuchBucket", "InvalidBucketName":
            S3LocationError(S3Location.setting, "names a bucket that is not there: \(location)")
        case "AuthorizationHeaderMalformed", "PermanentRedirect", "IllegalLocationConstraintException":
            S3LocationError(
                "AWS_REGION",
                "is \(location.region)\(region.map { "; the bucket is in \($0)" } ?? ", not the bucket's")")
        case "RequestTimeTooSkewed": nil
        default:
            switch status {
            case .movedPermanently, .temporaryRedirect:
                S3LocationError(
                    "AWS_REGION",
                    "is \(location.region)\(region.map { "; the bucket is in \($0)" } ?? ", not the bucket's")")
            case .unauthorized, .forbidden: S3LocationError("AWS_ACCESS_KEY_ID", "does not let us in: \(self)")
            case .notFound, .methodNotAllowed:
                S3LocationError("AWS_ENDPOINT_URL_S3", "leads to \(location.endpoint), which is no S3: \(self)")
            default: nil
            }
        }
    }
}

extension S3Failure: CustomStringConvertible {
    var description: String { "S3: \(what): \(status.code)\(code.map { " \($0)" } ?? "")" }
}

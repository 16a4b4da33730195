import HesperModel
import NIOHTTP1
import Testing

@testable import HesperBlobs

/// The examples in "Authenticating Requests: Using the Authorization Header" of the Amazon S3 API Reference.
@Suite struct S3SignerTests {
    struct Example: Sendable, CustomTestStringConvertible {
        let request: S3Request
        let signature: String
        var testDescription: String { "\(request.method) \(request.key ?? "") \(request.canonicalQuery)" }
    }

    static let examples = [
        Example(
            request: S3Request(.GET, "test.txt", headers: ["Range": "bytes=0-9"]),
            signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
        Example(
            request: S3Request(
                .PUT, "test$file.text",
                headers: ["Date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"],
                body: .init(string: "Welcome to Amazon S3.")),
            signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"),
        Example(
            request: S3Request(.GET, query: [("lifecycle", "")]),
            signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        Example(
            request: S3Request(.GET, query: [("prefix", "J"), ("max-keys", "2")]),
            signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ]

    @Test(arguments: examples) func matchesTheExamplesOfAmazon(_ example: Example) throws {
        let location = try S3Location(
            "s3://examplebucket",
            environment: [
                "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_REGION": "us-east-1",
                "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                // The example uses the endpoint without a region.
                "AWS_ENDPOINT_URL_S3": "https://s3.amazonaws.com", "HESPER_S3_PATH_STYLE": "false",
            ])
        let target = location.target(of: example.request)
        let signer = S3Signer(credentials: location.credentials, region: location.region)
        let date = try #require(Timestamp("2013-05-24T00:00:00Z"))
        let headers = signer.headers(example.request, host: target.host, path: target.path, at: date)
        #expect(headers.first(name: "Host") == "examplebucket.s3.amazonaws.com")
        let authorization = try #require(headers.first(name: "Authorization"))
        #expect(authorization.hasSuffix("Signature=\(example.signature)"), "\(authorization)")
        #expect(
            authorization.hasPrefix(
                "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders="))
    }

    @Test func sessionTokenIsSigned() throws {
        let signer = S3Signer(
            credentials: S3Credentials(accessKeyID: "AK", secretAccessKey: "SK", sessionToken: "tok"), region: "x")
        let headers = signer.headers(S3Request(.GET), host: "h", path: "/", at: Timestamp(clamping: 0))
        #expect(headers.first(name: "x-amz-security-token") == "tok")
        #expect(headers.first(name: "Authorization")?.contains("x-amz-date;x-amz-security-token,") == true)
    }

    @Test func descriptionHasNoSecrets() {
        let keys = S3Credentials(accessKeyID: "AK", secretAccessKey: "SK", sessionToken: "TK")
        var text = "\(keys) \(String(reflecting: keys))"
        dump(keys, to: &text)
        dump(["keys": keys], to: &text)
        for secret in ["AK", "SK", "TK"] { #expect(!text.contains(secret)) }
    }
}

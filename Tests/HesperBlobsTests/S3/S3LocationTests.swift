import Testing

@testable import HesperBlobs

@Suite struct S3LocationTests {
    static let keys = ["AWS_ACCESS_KEY_ID": "AK", "AWS_SECRET_ACCESS_KEY": "SK"]

    private func location(_ url: String, _ more: [String: String] = [:]) throws -> S3Location {
        try S3Location(url, environment: S3LocationTests.keys.merging(more) { $1 })
    }

    /// The URLs of requests.
    @Test(arguments: [
        // Amazon S3: the bucket is in the host name, unless it contains dots.
        ("s3://notes", ["AWS_REGION": "eu-central-1"], "https://notes.s3.eu-central-1.amazonaws.com/12/k?a=b"),
        ("s3://notes/", ["AWS_DEFAULT_REGION": "eu-west-1"], "https://notes.s3.eu-west-1.amazonaws.com/12/k?a=b"),
        (
            "s3://notes", ["AWS_REGION": "eu-west-3", "AWS_DEFAULT_REGION": "eu-west-1"],
            "https://notes.s3.eu-west-3.amazonaws.com/12/k?a=b"
        ),
        ("s3://my.notes", ["AWS_REGION": "eu-west-1"], "https://s3.eu-west-1.amazonaws.com/my.notes/12/k?a=b"),
        ("s3://notes", ["AWS_REGION": "cn-north-1"], "https://notes.s3.cn-north-1.amazonaws.com.cn/12/k?a=b"),
        (
            "s3://notes", ["AWS_REGION": "eu-west-1", "HESPER_S3_PATH_STYLE": "true"],
            "https://s3.eu-west-1.amazonaws.com/notes/12/k?a=b"
        ),
        // Other endpoints: the bucket is in the path by default.
        ("s3://notes", ["AWS_ENDPOINT_URL": "http://localhost:9000"], "http://localhost:9000/notes/12/k?a=b"),
        ("s3://notes", ["AWS_ENDPOINT_URL": "http://[::1]:9000/"], "http://[::1]:9000/notes/12/k?a=b"),
        ("s3://notes", ["AWS_ENDPOINT_URL": "https://e.example:443/s3/"], "https://e.example/s3/notes/12/k?a=b"),
        (
            "s3://notes", ["AWS_ENDPOINT_URL_S3": "https://a.example", "AWS_ENDPOINT_URL": "https://b.example"],
            "https://a.example/notes/12/k?a=b"
        ),
        (
            "s3://notes", ["AWS_ENDPOINT_URL_S3": "https://a.example", "HESPER_S3_PATH_STYLE": "false"],
            "https://notes.a.example/12/k?a=b"
        ),
    ]) func hasTarget(_ url: String, _ environment: [String: String], _ target: String) throws {
        let location = try location(url, environment)
        #expect(location.target(of: S3Request(.GET, "12/k", query: [("a", "b")])).url == target)
    }

    @Test func parsesThePrefix() throws {
        let endpoint = ["AWS_ENDPOINT_URL": "http://h"]
        #expect(try location("s3://notes/home/ada", endpoint).prefix == "home/ada")
        #expect(try location("s3://notes/home/", endpoint).prefix == "home")
        #expect(try location("s3://notes", endpoint).prefix == "")
        #expect(try location("s3://notes/it's(1)!", endpoint).prefix == "it's(1)!")
        #expect(try "\(location("s3://notes/home", endpoint))" == "s3://notes/home at http://h")
    }

    @Test(arguments: [
        ("s3:notes", [:], "HESPER_ATTACHMENTS"), ("s3://", [:], "HESPER_ATTACHMENTS"),
        ("s3://Notes", [:], "HESPER_ATTACHMENTS"), ("s3://no", [:], "HESPER_ATTACHMENTS"),
        ("s3://notes//x", [:], "HESPER_ATTACHMENTS"), ("s3://notes/../x", [:], "HESPER_ATTACHMENTS"),
        ("s3://notes/a b", [:], "HESPER_ATTACHMENTS"), ("s3://key:secret@notes", [:], "HESPER_ATTACHMENTS"),
        ("s3://notes", ["AWS_ACCESS_KEY_ID": ""], "AWS_ACCESS_KEY_ID"),
        ("s3://notes", ["AWS_ACCESS_KEY_ID": "A K"], "AWS_ACCESS_KEY_ID"),
        ("s3://notes", ["AWS_SECRET_ACCESS_KEY": ""], "AWS_SECRET_ACCESS_KEY"),
        ("s3://notes", ["AWS_SECRET_ACCESS_KEY": "SK\n"], "AWS_SECRET_ACCESS_KEY"),
        ("s3://notes", ["AWS_SESSION_TOKEN": "t\r"], "AWS_SESSION_TOKEN"),
        ("s3://notes", [:], "AWS_REGION"), ("s3://notes", ["AWS_REGION": "eu west"], "AWS_REGION"),
        ("s3://notes", ["AWS_DEFAULT_REGION": "x/y"], "AWS_DEFAULT_REGION"),
        ("s3://notes", ["AWS_ENDPOINT_URL": "localhost:9000"], "AWS_ENDPOINT_URL"),
        ("s3://notes", ["AWS_ENDPOINT_URL": "ftp://h"], "AWS_ENDPOINT_URL"),
        ("s3://notes", ["AWS_ENDPOINT_URL": "http://h?x=1"], "AWS_ENDPOINT_URL"),
        ("s3://notes", ["AWS_ENDPOINT_URL": "http://u:p@h"], "AWS_ENDPOINT_URL"),
        ("s3://notes", ["AWS_ENDPOINT_URL": "http://h:70000"], "AWS_ENDPOINT_URL"),
        ("s3://notes", ["AWS_ENDPOINT_URL_S3": "x", "AWS_ENDPOINT_URL": "http://h"], "AWS_ENDPOINT_URL_S3"),
        ("s3://notes", ["AWS_ENDPOINT_URL": "http://h", "HESPER_S3_PATH_STYLE": "yes"], "HESPER_S3_PATH_STYLE"),
    ]) func reportsTheInvalidSetting(_ url: String, _ environment: [String: String], _ variable: String) throws {
        let error = #expect(throws: S3LocationError.self) { try location(url, environment) }
        #expect(error?.variable == variable, "\(error?.description ?? "")")
        for secret in ["SK", "A K"] { #expect(error?.description.contains(secret) == false) }
    }

    @Test func recognizesURLs() {
        #expect(S3Location.isURL("s3://notes"))
        #expect(S3Location.isURL("s3:notes"))
        #expect(!S3Location.isURL("data/s3"))
        #expect(!S3Location.isURL("/s3://x"))
    }
}

import Testing

@testable import HesperBlobs

@Suite struct S3XMLTests {
    @Test func parsesAResponse() throws {
        let xml = try #require(
            S3XML(
                reading: """
                    <?xml version="1.0" encoding="UTF-8"?>
                    <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
                      <Name>notes</Name><Prefix/><Delimiter />
                      <Contents><Key>a&amp;b &lt;&quot;&apos;&gt; &#233;&#x301;\u{301}x</Key><Size>3</Size></Contents>\r
                      <Contents><Key>\u{301}</Key><Owner><ID>1</ID></Owner></Contents>
                    </ListBucketResult>

                    """))
        #expect(xml.name == "ListBucketResult")
        #expect(xml.text == "")
        #expect(xml["Name"] == "notes")
        #expect(xml["Prefix"] == "")
        #expect(xml["Delimiter"] == "")
        #expect(xml["Absent"] == nil)
        #expect(xml.all("Contents").map { $0["Key"] } == ["a&b <\"'> \u{e9}\u{301}\u{301}x", "\u{301}"])
        #expect(xml.all("Contents")[1].all("Owner")[0]["ID"] == "1")
    }

    @Test(arguments: [
        "", " ", "text", "<a>", "<a></b>", "</a>", "<a></a><b></b>", "<a></a>x", "x<a></a>", "<a><b></a></b>", "<a",
        "<>",
        "<a>&x;</a>", "<a>&amp</a>", "<a>&#xd800;</a>", "<a>&;</a>", "<!DOCTYPE a><a></a>",
        "<a><![CDATA[x]]></a>", "<a><!-- x --></a>",
        String(repeating: "<a>", count: 20) + String(repeating: "</a>", count: 20),
    ]) func refusesUnsupportedXML(_ text: String) { #expect(S3XML(reading: text) == nil) }

    @Test func encodedTextIsParsedBack() {
        let text = "\"5eb63bbbe01eeed093cb22bb8f5acdc3-2\" & <more>"
        #expect(S3XML(reading: "<ETag>\(S3XML.encoded(text))</ETag>")?.text == text)
    }
}

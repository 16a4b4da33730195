import Foundation
import HesperModel
import HesperStore

/// Lists a bucket page by page.
struct S3Listing: Sendable {
    let client: S3Client

    /// The text with which all keys begin; empty if the whole bucket is used.
    private var prefix: String { client.location.prefix.isEmpty ? "" : client.location.prefix + "/" }

    /// Passes every object to `body`, in the order of keys.
    func entries(_ body: (BlobEntry) async throws -> Void) async throws {
        var token: String?
        repeat {
            var query = [("list-type", "2"), ("prefix", prefix), ("encoding-type", "url")]
            if let token { query.append(("continuation-token", token)) }
            let page = try await page(query, of: "ListBucketResult")
            for object in page.all("Contents") {
                guard let key = key(of: object, in: page), key.hasPrefix(prefix),
                    let size = object["Size"].flatMap({ Int64($0) }),
                    let date = object["LastModified"].flatMap({ Timestamp($0) })
                else { throw unreadable("invalid object") }
                let path = String(key.dropFirst(prefix.count))
                if path == BlobMarker.path { continue }
                try await body(BlobEntry(path: path, byteCount: size, date: date))
            }
            let next = page["IsTruncated"] == "true" ? page["NextContinuationToken"] : nil
            guard next == nil || next != token else { throw unreadable("repeated continuation token") }
            token = next
        } while token != nil
    }

    /// The unfinished multipart uploads of blobs. Only uploads that were started before `date` are returned.
    func uploads(before date: Timestamp) async throws -> [S3Upload] {
        var found: [S3Upload] = []
        var marker: (key: String, upload: String)?
        repeat {
            var query = [("uploads", ""), ("prefix", prefix), ("encoding-type", "url")]
            if let marker { query += [("key-marker", marker.key), ("upload-id-marker", marker.upload)] }
            let page = try await page(query, of: "ListMultipartUploadsResult")
            for upload in page.all("Upload") {
                guard let key = key(of: upload, in: page), let id = upload["UploadId"],
                    let begin = upload["Initiated"].flatMap({ Timestamp($0) })
                else { throw unreadable("invalid upload") }
                // Uploads that other applications have started in the bucket are ignored.
                guard key.hasPrefix(prefix), BlobName(path: key.dropFirst(prefix.count)) != nil, begin < date else {
                    continue
                }
                found.append(S3Upload(client: client, key: key, id: id))
            }
            guard page["IsTruncated"] == "true", let key = page["NextKeyMarker"], let id = page["NextUploadIdMarker"]
            else {
                return found
            }
            let next = (key: decoded(key, in: page), upload: id)
            guard marker.map({ $0 != next }) ?? true else { throw unreadable("repeated marker") }
            marker = next
        } while true
    }

    /// Requests a listing of at most one object. This is the cheapest request that verifies the endpoint, the credentials and the
    /// bucket.
    func check() async throws {
        _ = try await page([("list-type", "2"), ("prefix", prefix), ("max-keys", "1")], of: "ListBucketResult")
    }

    private func page(_ query: [(name: String, value: String)], of name: String) async throws -> S3XML {
        guard let xml = try await client.receive(S3Request(.GET, query: query)).xml, xml.name == name else {
            throw unreadable("unexpected response")
        }
        return xml
    }

    private func key(of element: S3XML, in page: S3XML) -> String? { element["Key"].map { decoded($0, in: page) } }

    /// Decodes a key of a listing. Keys may contain characters that XML does not allow, so S3 can send the keys percent-encoded.
    private func decoded(_ key: String, in page: S3XML) -> String {
        guard page["EncodingType"] == "url" else { return key }
        return key.replacing("+", with: " ").removingPercentEncoding ?? key
    }

    private func unreadable(_ reason: String) -> StoreError {
        .failed("S3: invalid listing of \(client.location): \(reason)")
    }
}

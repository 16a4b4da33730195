import HesperModel
import HesperStore
import NIOCore
import Testing

@testable import HesperImport
@testable import HesperServer

@Suite struct ImportRecordTests {
    @Test func skippedEntriesAreLimited() throws {
        var report = ImportReport()
        for index in 0..<1_200 {
            report.skipped.append(
                ImportReport.Skipped(path: "\(index)", reason: String(repeating: "x", count: 1_000)))
        }
        guard case .object(let json) = try JSONReader.read(Array(report.json.utf8)),
            case .array(let skipped)? = json["skipped"], case .object(let last)? = skipped.last,
            case .string(let reason)? = last["reason"]
        else {
            Issue.record("not the expected JSON")
            return
        }
        #expect(json["skippedCount"] == .integer(1_200))
        #expect(skipped.count == 1_000)
        #expect(last["path"] == .string("999"))
        #expect(reason.count == 300)
    }

    @Test func theEventIsOneLineThatEveryServerCanSend() {
        var record = ImportRecord(
            uniqueID: .random(), name: "a\n.zip", byteCount: 9, creationDate: .now, requestedBy: NodeID(1))
        (record.done, record.total, record.preview) = (1, 2, String(repeating: "x", count: 10_000))
        let event = String(buffer: record.event)
        #expect(event == #"{"uniqueID":"\#(record.uniqueID)","state":"uploading","done":1,"total":2}"#)
    }
}

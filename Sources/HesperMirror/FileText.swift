import Crypto
import Foundation
import HesperModel

/// The text of a file, and whether its lines end with CR LF.
struct FileText: Equatable {
    /// The text of the note.
    let text: String
    /// Whether all lines of the file end with CR LF. In ``text``, these lines end with LF.
    let hasCRLF: Bool

    /// The error for bytes that cannot be the text of a note.
    struct Unusable: Error, Equatable {
        let reason: SkippedFile.Reason
    }

    /// Converts the bytes of a file to the text of a note. A byte order mark stays in the text.
    init(_ bytes: Data) throws(Unusable) {
        guard bytes.count <= Limits.textBytes else { throw Unusable(reason: .tooLarge) }
        guard !bytes.contains(0) else { throw Unusable(reason: .binary) }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Unusable(reason: .notUTF8) }
        guard case .success = FieldValue.text(.string(text)) else { throw Unusable(reason: .binary) }
        hasCRLF = FileText.hasOnlyCRLF(bytes)
        self.text = hasCRLF ? String(decoding: bytes.filter { $0 != 0x0d }, as: UTF8.self) : text
    }

    /// Converts the text of a note to the bytes of a file.
    static func bytes(of text: String, hasCRLF: Bool) -> Data {
        guard hasCRLF else { return Data(text.utf8) }
        var bytes = Data(capacity: text.utf8.count + text.utf8.count / 32)
        var previous: UInt8 = 0
        for byte in text.utf8 {
            if byte == 0x0a, previous != 0x0d { bytes.append(0x0d) }
            bytes.append(byte)
            previous = byte
        }
        return bytes
    }

    /// Whether the bytes have line ends, and all of them are CR LF.
    private static func hasOnlyCRLF(_ bytes: Data) -> Bool {
        var previous: UInt8 = 0
        var count = 0
        for byte in bytes {
            switch (previous, byte) {
            case (0x0d, 0x0a): count += 1
            case (_, 0x0a), (0x0d, _): return false
            default: break
            }
            previous = byte
        }
        return count > 0 && previous != 0x0d
    }

    /// The hash by which the mirror compares texts and files.
    static func hash(_ bytes: some DataProtocol) -> String {
        SHA256.hash(data: bytes).prefix(16).map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
    }

    static func hash(of text: String) -> String { hash(Data(text.utf8)) }
}

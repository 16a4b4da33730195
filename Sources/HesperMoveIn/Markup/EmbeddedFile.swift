import Crypto
import Foundation

/// Decodes Base64 in pieces and writes the bytes to a new file.
struct EmbeddedFile {
    private let limit: Int64
    private let file: FileHandle
    private let location: String
    private var hasher = Insecure.MD5()
    private var bits: UInt32 = 0
    private var bitCount = 0
    private var buffer: [UInt8] = []
    /// The number of Base64 characters that were read, without white space and padding.
    private var characterCount: Int64 = 0
    private var isValid = true
    private var isPadded = false

    /// - Parameter limit: the maximum number of bytes of the file.
    init(in folder: String, limit: Int64) throws {
        self.limit = limit
        location = "\(folder)/\(UUID().uuidString)"
        guard FileManager.default.createFile(atPath: location, contents: nil, attributes: [.posixPermissions: 0o600]),
            let file = FileHandle(forWritingAtPath: location)
        else { throw CocoaError(.fileWriteUnknown) }
        self.file = file
    }

    private var byteCount: Int64 { characterCount * 3 / 4 }

    mutating func append(_ text: UnsafeBufferPointer<UInt8>) throws {
        guard byteCount <= limit else { return count(text) }
        for byte in text {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): add(byte - 0x41)
            case UInt8(ascii: "a")...UInt8(ascii: "z"): add(byte - 0x61 + 26)
            case UInt8(ascii: "0")...UInt8(ascii: "9"): add(byte - 0x30 + 52)
            case UInt8(ascii: "+"), UInt8(ascii: "-"): add(62)
            case UInt8(ascii: "/"), UInt8(ascii: "_"): add(63)
            case UInt8(ascii: "="): isPadded = true
            case 0x20, 0x09, 0x0a, 0x0d: continue
            default: isValid = false
            }
        }
        try flush()
    }

    /// Counts the remaining characters of a file that is too large, without decoding them, so that the error message can state the
    /// size.
    private mutating func count(_ text: UnsafeBufferPointer<UInt8>) {
        var rest = UnsafeRawBufferPointer(text)[...]
        while let start = rest.isEmpty ? nil : UnsafeRawBufferPointer(rebasing: rest).baseAddress {
            let line = memchr(start, 0x0a, rest.count).map { UnsafeRawPointer($0) - start } ?? rest.count
            characterCount += Int64(line)
            rest = rest.dropFirst(line + 1)
        }
    }

    private mutating func add(_ value: UInt8) {
        if isPadded { isValid = false }
        bits = bits << 6 | UInt32(value)
        bitCount += 6
        characterCount += 1
        guard bitCount >= 8 else { return }
        bitCount -= 8
        if byteCount <= limit { buffer.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount))) }
    }

    private mutating func flush() throws {
        hasher.update(data: buffer)
        try file.write(contentsOf: buffer)
        buffer.removeAll(keepingCapacity: true)
    }

    /// Completes the file.
    /// - Returns: the file. If the file cannot be imported, removes the file and returns the reason.
    func finish() throws -> Result<MarkupRecord.File, SourceNote.Rejected> {
        try file.close()
        let reason: String? =
            if byteCount > limit {
                SourceNote.Rejected.tooLarge(byteCount, limit: limit)
            } else if !isValid {
                "It is not valid Base64."
            } else if byteCount == 0 {
                "It is empty."
            } else {
                nil
            }
        if let reason {
            try FileManager.default.removeItem(atPath: location)
            return .failure(SourceNote.Rejected(reason: reason))
        }
        let hash = hasher.finalize().map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
        return .success(MarkupRecord.File(hash: hash, location: location, byteCount: byteCount))
    }
}

/// Writes pictures to files. The pictures are contained in a document as data URLs, such as `data:image/png;base64,…`.
final class EmbeddedPictures {
    private let folder: String
    private let limit: Int64
    private(set) var files: [MarkupRecord.File] = []
    private(set) var losses: [MarkupRecord.Loss] = []
    /// The first error that occurred while a picture was stored, such as a full disk; nil if there was none. After it, no more
    /// pictures are stored.
    private(set) var failure: (any Error)?

    init(in folder: String, limit: Int64) { (self.folder, self.limit) = (folder, limit) }

    /// - Returns: the address by which the text refers to the picture; nil if the picture cannot be stored.
    func store(_ url: String) -> String? {
        guard failure == nil, url.hasPrefix("data:image/"), let comma = url.firstIndex(of: ","),
            url[..<comma].hasSuffix(";base64")
        else { return nil }
        do {
            var embedded = try EmbeddedFile(in: folder, limit: limit)
            var data = String(url[url.index(after: comma)...])
            try data.withUTF8 { try embedded.append($0) }
            switch try embedded.finish() {
            case .success(var file):
                file.mimeType = String(url[..<comma].dropFirst(5).prefix { $0 != ";" })
                let ending = file.mimeType.split(separator: "/").last ?? ""
                file.name = "picture." + ending.prefix(while: \.isLetter)
                files.append(file)
                return MarkdownConverter.resourceScheme + file.hash
            case .failure(let rejected):
                losses.append(.init(part: "a picture", reason: rejected.reason))
                return nil
            }
        } catch {
            failure = error
            return nil
        }
    }
}

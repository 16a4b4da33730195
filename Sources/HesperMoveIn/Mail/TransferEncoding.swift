/// Decodes the transfer encodings of MIME (RFC 2045, 6). Invalid characters are skipped, as mail programs do.
enum TransferEncoding {
    /// Decodes the contents of a part.
    /// - Parameter name: the value of `Content-Transfer-Encoding`; nil if the part has none.
    static func decoded(_ bytes: ArraySlice<UInt8>, _ name: String?) -> [UInt8] {
        switch name?.trimmingSpace.lowercased() {
        case "base64": base64(bytes)
        case "quoted-printable": quotedPrintable(bytes)
        default: Array(bytes)
        }
    }

    static func base64(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count / 4 * 3)
        var (bits, count): (UInt32, Int) = (0, 0)
        for byte in bytes {
            guard let value = values[Int(byte)] else {
                if byte == UInt8(ascii: "=") { (bits, count) = (0, 0) }
                continue
            }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                result.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return result
    }

    private static let values: [UInt8?] = {
        var values = [UInt8?](repeating: nil, count: 256)
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        for (value, character) in alphabet.utf8.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    static func quotedPrintable(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "=") else {
                result.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            if digits.count == 2, let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16) {
                result.append(value)
                rest = rest.dropFirst(2)
                continue
            }
            // An equals sign at the end of a line joins this line with the next one. White space may follow the equals sign.
            let end = rest.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x0d }
            if end.isEmpty || end.first == 0x0a { rest = end.dropFirst() } else { result.append(byte) }
        }
        return result
    }
}

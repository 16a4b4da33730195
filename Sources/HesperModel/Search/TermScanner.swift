/// Finds the terms of a text and their positions. ``Terms`` describes how a text is split into terms.
struct TermScanner {
    /// A function that receives a term in UTF-8. `source` is the range of bytes in the text from which the term was made. `isTail`
    /// is true if the term consists only of the last character of a longer run in a script without spaces.
    typealias Found = (_ term: UnsafeBufferPointer<UInt8>, _ source: Range<Int>, _ isTail: Bool) -> Void

    /// Calls `found` for every term of `text`, in order.
    static func scan(_ text: String, _ found: Found) {
        var text = text
        text.withUTF8 { bytes in
            var scanner = TermScanner()
            scanner.scan(bytes, found)
        }
    }

    /// For each byte: the lower-case form if it is an ASCII letter, the byte itself if it is a digit, 0 for any other ASCII
    /// byte, and 1 for a byte that is not ASCII.
    private static let lower: [UInt8] = (0...255).map { (byte: UInt8) in
        switch byte {
        case 0x30...0x39, 0x61...0x7A: byte
        case 0x41...0x5A: byte + 0x20
        case 0x80...: 1
        default: 0
        }
    }

    /// The scalars of the current run, that is, those since the last separator.
    private var scalars: [Unicode.Scalar] = []
    /// For each scalar of the run, the byte of the text at which it begins.
    private var starts: [Int] = []
    /// For each scalar of the run, the byte of the text at which it ends.
    private var ends: [Int] = []
    private var isPairs = false
    private var term: [UInt8] = []

    private mutating func scan(_ bytes: UnsafeBufferPointer<UInt8>, _ found: Found) {
        Self.lower.withUnsafeBufferPointer { lower in
            var position = 0
            while position < bytes.count {
                let start = position
                while position < bytes.count, lower[Int(bytes[position])] > 1 { position += 1 }
                if position == bytes.count || bytes[position] < 0x80 {
                    if position > start {
                        term.removeAll(keepingCapacity: true)
                        for byte in bytes[start..<min(position, start + Terms.maximumLength)] {
                            term.append(lower[Int(byte)])
                        }
                        term.withUnsafeBufferPointer { found($0, start..<position, false) }
                    }
                    position += 1
                } else {
                    position = scanRun(bytes, from: start, lower, found)
                }
            }
        }
    }

    /// Scans text that is not all ASCII, from `start` to the next separator. Returns the position from which to continue.
    private mutating func scanRun(
        _ bytes: UnsafeBufferPointer<UInt8>, from start: Int, _ lower: UnsafeBufferPointer<UInt8>, _ found: Found
    ) -> Int {
        var position = start
        while position < bytes.count {
            let byte = bytes[position]
            if byte < 0x80 {
                guard lower[Int(byte)] > 1 else { break }
                let letter = TermScalar(.word, UInt32(lower[Int(byte)]))
                add(letter, position..<position + 1, found)
                position += 1
                continue
            }
            let (scalar, length) = Self.decode(bytes, at: position)
            let source = position..<position + length
            position += length
            var isSeparator = false
            TermScalar.of(scalar) { made in
                isSeparator = made.kind == .separator
                add(made, source, found)
            }
            if isSeparator { break }
        }
        flush(found)
        return position
    }

    /// Decodes one scalar. The bytes must be valid UTF-8, as the bytes of a String always are.
    static func decode(_ bytes: UnsafeBufferPointer<UInt8>, at position: Int) -> (Unicode.Scalar, length: Int) {
        let first = UInt32(bytes[position])
        let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        var value = length == 1 ? first : first & (0x7F >> UInt32(length))
        for byte in bytes[(position + 1)..<(position + length)] { value = value << 6 | UInt32(byte & 0x3F) }
        return (Unicode.Scalar(value) ?? "\u{FFFD}", length)
    }

    private mutating func add(_ made: TermScalar, _ source: Range<Int>, _ found: Found) {
        switch made.kind {
        case .separator, .several: flush(found)
        case .ignored: break
        case .word, .pair:
            let belongsToPairs = made.kind == .pair
            if isPairs != belongsToPairs, !scalars.isEmpty { flush(found) }
            isPairs = belongsToPairs
            append(made.scalar, source)
        case .sign:
            if scalars.isEmpty { isPairs = false }
            append(made.scalar, source)
        case .voicing:
            guard isPairs, let last = scalars.last,
                let letter = CanonicalForm.composition(of: last, made.scalar)
            else { return }
            scalars[scalars.count - 1] = letter
            ends[ends.count - 1] = source.upperBound
        }
    }

    /// Appends a scalar in canonical order (Unicode, D109), so that equivalent texts have the same terms. For this order, a mark
    /// may have to be inserted before marks that precede it in the text. It is inserted before at most 30 of them, which is the
    /// limit of Unicode's stream-safe format. Even a text that consists only of marks is therefore scanned in linear time.
    private mutating func append(_ scalar: Unicode.Scalar, _ source: Range<Int>) {
        var position = scalars.count
        if scalar.value >= 0x0300 {
            let order = scalar.properties.canonicalCombiningClass
            let limit = max(0, position - 30)
            while order.rawValue > 0, position > limit,
                scalars[position - 1].properties.canonicalCombiningClass.rawValue > order.rawValue
            {
                position -= 1
            }
        }
        scalars.insert(scalar, at: position)
        starts.insert(source.lowerBound, at: position)
        ends.insert(source.upperBound, at: position)
    }

    /// Reports the terms of the current run, then begins a new run. In a script with spaces, the run is a word and is one term. In
    /// a script without spaces, each pair of adjacent characters is a term, and so is the last character alone.
    private mutating func flush(_ found: Found) {
        defer {
            scalars.removeAll(keepingCapacity: true)
            starts.removeAll(keepingCapacity: true)
            ends.removeAll(keepingCapacity: true)
        }
        guard let last = scalars.indices.last else { return }
        if isPairs {
            for index in scalars.indices {
                report(index...min(index + 1, last), isTail: index == last && index > 0, found)
            }
        } else {
            report(0...last, isTail: false, found)
        }
    }

    private mutating func report(_ indices: ClosedRange<Int>, isTail: Bool, _ found: Found) {
        term.removeAll(keepingCapacity: true)
        for scalar in scalars[indices] {
            let encoded = UTF8.encode(scalar)
            guard let encoded, term.count + encoded.count <= Terms.maximumLength else { break }
            term.append(contentsOf: encoded)
        }
        let source = starts[indices.lowerBound]..<max(ends[indices.upperBound], ends[indices.lowerBound])
        term.withUnsafeBufferPointer { found($0, source, isTail) }
    }
}

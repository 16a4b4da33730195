/// The merged text, with what must stand between tokens of different texts.
struct TextOutput {
    typealias Piece = TextTriple.Piece

    let texts: TextTriple
    let pieces: [Piece]

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(max(texts.older.bytes.count, texts.newer.bytes.count))
        for index in pieces.indices {
            if index > 0 { bytes += separator(pieces[index - 1], pieces[index]) }
            bytes += self.bytes(pieces[index])
        }
        return bytes
    }

    /// Whether a line break comes between a piece that is none and the next.
    func beginsLine(after index: Int) -> Bool {
        guard index + 1 < pieces.count else { return false }
        let separator = separator(pieces[index], pieces[index + 1])
        return !separator.isEmpty && String(decoding: separator, as: UTF8.self).contains(where: \.isNewline)
    }

    private func bytes(_ piece: Piece) -> ArraySlice<UInt8> { texts[piece.source].bytes(of: piece.token) }

    /// Nothing, as a rule. Where two texts meet, their words must not become one word nor their graphemes one grapheme.
    private func separator(_ tail: Piece, _ head: Piece) -> ArraySlice<UInt8> {
        if tail.source == head.source && tail.token + 1 == head.token { return [] }
        let separator = isGlued(tail, head) ? gap(tail, head) : []
        let before = separator.isEmpty ? bytes(tail) : separator
        if TextGrapheme.areApart(before, bytes(head)) { return separator }
        let space: ArraySlice<UInt8> = [UInt8(ascii: " ")]
        // A combining mark would sit on a space; on nothing but a line break does it stay alone.
        return TextGrapheme.areApart(space, bytes(head)) ? space : [UInt8(ascii: "\n")]
    }

    private func isGlued(_ tail: Piece, _ head: Piece) -> Bool {
        guard texts[head.source].kinds[head.token] == .word else { return false }
        let kind = texts[tail.source].kinds[tail.token]
        return kind == .word || kind == .closing
    }

    /// The gap that stood before the word in its own text, or else after the one that it now follows.
    private func gap(_ tail: Piece, _ head: Piece) -> ArraySlice<UInt8> {
        if texts[head.source].isGap(head.token - 1) { return texts[head.source].bytes(of: head.token - 1) }
        if texts[tail.source].isGap(tail.token + 1) { return texts[tail.source].bytes(of: tail.token + 1) }
        return head.token == 0 ? [UInt8(ascii: "\n")] : [UInt8(ascii: " ")]
    }
}

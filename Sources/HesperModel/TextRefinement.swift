/// The changes of one side, first by lines, then, where the other side touched the same lines, by words.
struct TextRefinement {
    let base: TextTokens
    let side: TextTokens

    /// The hunks, in tokens, of a run of lines that both sides touched.
    func hunks(_ lines: TextHunk, effort: inout TextEffort) -> [TextHunk] {
        let range = tokens(lines)
        let raw = TextWordDiff.tokens(range, base, side, effort: &effort)
        var slid: [TextHunk] = []
        for hunk in raw {
            append(
                slide(
                    hunk,
                    above: slid.last.map { ($0.base.upperBound, $0.side.upperBound) } ?? (
                        range.base.lowerBound, range.side.lowerBound
                    )), to: &slid)
        }
        return absorb(slid).flatMap { split($0) }
    }

    /// The same run in tokens.
    func tokens(_ lines: TextHunk) -> TextHunk {
        TextHunk(
            base: base.lineStarts[lines.base.lowerBound]..<base.lineStarts[lines.base.upperBound],
            side: side.lineStarts[lines.side.lowerBound]..<side.lineStarts[lines.side.upperBound])
    }

    private func append(_ hunk: TextHunk, to hunks: inout [TextHunk]) {
        if let last = hunks.last, last.base.upperBound == hunk.base.lowerBound,
            last.side.upperBound == hunk.side.lowerBound
        {
            hunks[hunks.count - 1].base = last.base.lowerBound..<hunk.base.upperBound
            hunks[hunks.count - 1].side = last.side.lowerBound..<hunk.side.upperBound
        } else {
            hunks.append(hunk)
        }
    }

    /// Moves an insertion or a deletion to where it begins with a line break, or else a blank, of all the places where
    /// it means the same; of several, to the first. Both sides have theirs there, so that " x" put in by one and "x " put
    /// in by the other between two words are seen to be at one place.
    private func slide(_ hunk: TextHunk, above floor: (base: Int, side: Int)) -> TextHunk {
        guard hunk.base.isEmpty != hunk.side.isEmpty else { return hunk }
        let (tokens, run) = hunk.base.isEmpty ? (side, hunk.side) : (base, hunk.base)
        var (moved, best) = (0, 0)
        while true {
            let start = run.lowerBound - moved
            if score(tokens.kinds[start]) >= score(tokens.kinds[run.lowerBound - best]) { best = moved }
            guard hunk.base.lowerBound - moved > floor.base, hunk.side.lowerBound - moved > floor.side,
                tokens.numbers[start - 1] == tokens.numbers[run.upperBound - moved - 1]
            else { break }
            moved += 1
        }
        return TextHunk(
            base: (hunk.base.lowerBound - best)..<(hunk.base.upperBound - best),
            side: (hunk.side.lowerBound - best)..<(hunk.side.upperBound - best))
    }

    private func score(_ kind: TextTokens.Kind) -> Int {
        switch kind {
        case .lineBreak: 2
        case .blank: 1
        default: 0
        }
    }

    /// Joins replacements that have only blanks, breaks and punctuation between them: that those are equal says
    /// nothing about what belongs to what.
    private func absorb(_ hunks: [TextHunk]) -> [TextHunk] {
        var joined: [TextHunk] = []
        for hunk in hunks {
            if let last = joined.last, isReplacement(last), isReplacement(hunk),
                !base.hasWords(last.base.upperBound..<hunk.base.lowerBound)
            {
                joined[joined.count - 1].base = last.base.lowerBound..<hunk.base.upperBound
                joined[joined.count - 1].side = last.side.lowerBound..<hunk.side.upperBound
            } else {
                joined.append(hunk)
            }
        }
        return joined
    }

    private func isReplacement(_ hunk: TextHunk) -> Bool { base.hasWords(hunk.base) && side.hasWords(hunk.side) }

    /// Cuts a hunk into the smallest that still mean something, so that a conflict takes as little as it must.
    private func split(_ hunk: TextHunk) -> [TextHunk] {
        if hunk.isInsertion { return [hunk] }
        if hunk.side.isEmpty { return splitDeletion(hunk) }
        guard isReplacement(hunk) else { return [hunk] }
        let breaks = hunk.base.filter { base.isBreak($0) }
        let sideBreaks = hunk.side.filter { side.isBreak($0) }
        if breaks.isEmpty, let first = sideBreaks.first {
            // Somebody changed a line and wrote on below it: only the first line is in question.
            return splitWords(TextHunk(base: hunk.base, side: hunk.side.lowerBound..<first))
                + [TextHunk(base: hunk.base.upperBound..<hunk.base.upperBound, side: first..<hunk.side.upperBound)]
        }
        var pieces: [TextHunk] = []
        var (start, sideStart) = (hunk.base.lowerBound, hunk.side.lowerBound)
        for (end, sideEnd) in zip(breaks, sideBreaks) {
            pieces += splitWords(TextHunk(base: start..<end, side: sideStart..<sideEnd))
            if base.numbers[end] != side.numbers[sideEnd] {
                pieces.append(TextHunk(base: end..<(end + 1), side: sideEnd..<(sideEnd + 1)))
            }
            (start, sideStart) = (end + 1, sideEnd + 1)
        }
        return pieces + splitWords(TextHunk(base: start..<hunk.base.upperBound, side: sideStart..<hunk.side.upperBound))
    }

    /// As many words for as many, with the same between them, are replaced one by one.
    private func splitWords(_ hunk: TextHunk) -> [TextHunk] {
        if hunk.base.isEmpty && hunk.side.isEmpty { return [] }
        let isAlike =
            hunk.base.count == hunk.side.count
            && zip(hunk.base, hunk.side).allSatisfy { mine, other in
                base.numbers[mine] == side.numbers[other]
                    || (base.kinds[mine] == .word && side.kinds[other] == .word)
            }
        guard isAlike else { return isTypedOn(hunk) ? splitAfterFirst(hunk) : [hunk] }
        return zip(hunk.base, hunk.side).filter { base.numbers[$0] != side.numbers[$1] }
            .map { TextHunk(base: $0..<($0 + 1), side: $1..<($1 + 1)) }
    }

    /// Whether somebody ended a word that had been sent half written, and wrote on.
    private func isTypedOn(_ hunk: TextHunk) -> Bool {
        guard hunk.base.count == 1, hunk.side.count > 1 else { return false }
        let (word, longer) = (hunk.base.lowerBound, hunk.side.lowerBound)
        return base.kinds[word] == .word && side.kinds[longer] == .word
            && side.bytes(of: longer).starts(with: base.bytes(of: word))
    }

    private func splitAfterFirst(_ hunk: TextHunk) -> [TextHunk] {
        let rest = hunk.side.lowerBound + 1
        return [
            TextHunk(base: hunk.base, side: hunk.side.lowerBound..<rest),
            TextHunk(base: hunk.base.upperBound..<hunk.base.upperBound, side: rest..<hunk.side.upperBound),
        ]
    }

    /// Cuts a deletion into paragraphs: a change inside one of them must bring back that one and no other.
    private func splitDeletion(_ hunk: TextHunk) -> [TextHunk] {
        let isLeading = base.isGap(hunk.base.lowerBound)
        var pieces: [TextHunk] = []
        var start = hunk.base.lowerBound
        var index = start
        while index < hunk.base.upperBound {
            let gap = index
            while index < hunk.base.upperBound, base.isGap(index) { index += 1 }
            let breaks = base.kinds[gap..<index].count { $0 == .lineBreak }
            let cut = isLeading ? gap : index
            if breaks > 1 || (breaks == 1 && index < base.count && base.startsItem(index)), cut > start,
                cut < hunk.base.upperBound
            {
                pieces.append(TextHunk(base: start..<cut, side: hunk.side))
                start = cut
            }
            if index == gap { index += 1 }
        }
        return pieces + [TextHunk(base: start..<hunk.base.upperBound, side: hunk.side)]
    }
}

extension TextTokens {
    /// Whether the line whose first word is this token begins something of its own, as an item of a list or a heading
    /// does, and so is no continuation of the paragraph above.
    fileprivate func startsItem(_ token: Int) -> Bool {
        let first = bytes(of: token)
        if first.allSatisfy({ $0 == UInt8(ascii: "#") }) { return true }
        if first.count == 1, let mark = first.first, "-*+>|".utf8.contains(mark) { return true }
        return kinds[token] == .word && first.allSatisfy { (0x30...0x39).contains($0) } && token + 1 < count
            && kinds[token + 1] == .closing
    }
}

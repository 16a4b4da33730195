/// A stretch of base lines that one side or both changed.
struct TextRegion: Sendable {
    var base: Range<Int>
    var older: [TextHunk] = []
    var newer: [TextHunk] = []

    /// Groups the line hunks of both sides: those that overlap or touch are one region.
    static func regions(older: [TextHunk], newer: [TextHunk]) -> [TextRegion] {
        var regions: [TextRegion] = []
        var (i, j) = (0, 0)
        while i < older.count || j < newer.count {
            let isOlder = j == newer.count || (i < older.count && older[i].base.lowerBound <= newer[j].base.lowerBound)
            let hunk = isOlder ? older[i] : newer[j]
            if let last = regions.last, hunk.base.lowerBound <= last.base.upperBound {
                let end = max(last.base.upperBound, hunk.base.upperBound)
                regions[regions.count - 1].base = last.base.lowerBound..<end
            } else {
                regions.append(TextRegion(base: hunk.base))
            }
            if isOlder {
                regions[regions.count - 1].older.append(hunk)
                i += 1
            } else {
                regions[regions.count - 1].newer.append(hunk)
                j += 1
            }
        }
        return regions
    }

    /// What one side, whose hunks in this region these are, has in place of the whole region.
    func whole(_ hunks: [TextHunk]) -> TextHunk? {
        guard let first = hunks.first, let last = hunks.last else { return nil }
        let start = first.side.lowerBound - (first.base.lowerBound - base.lowerBound)
        return TextHunk(base: base, side: start..<(last.side.upperBound + base.upperBound - last.base.upperBound))
    }
}

/// The lines that three texts begin and end with alike, which no merge changes.
///
/// Setting them aside makes the merge of a few words in a long text as cheap as that of a short one. They are cut after
/// LF only, where no grapheme and no line goes on, so that what is between starts and ends with whole lines.
struct TextEnds: Sendable {
    let start: ArraySlice<UInt8>
    let end: ArraySlice<UInt8>
    /// What is between, in the order of the texts.
    let middles: [ArraySlice<UInt8>]

    init(_ texts: [[UInt8]]) {
        let first = texts.first ?? []
        let shortest = texts.map(\.count).min() ?? 0
        var (common, startCount) = (0, 0)
        while common < shortest, texts.allSatisfy({ $0[common] == first[common] }) {
            common += 1
            if first[common - 1] == 0x0A { startCount = common }
        }
        var endCount = 0
        common = 0
        while common < shortest - startCount,
            texts.allSatisfy({ $0[$0.count - 1 - common] == first[first.count - 1 - common] })
        {
            // The LF before the end stays with the middle, which so ends with a whole line.
            if first[first.count - 1 - common] == 0x0A { endCount = common }
            common += 1
        }
        start = first.prefix(startCount)
        end = first.suffix(endCount)
        middles = texts.map { $0[startCount..<($0.count - endCount)] }
    }
}

/// Compares the names of tags (merge.md, Tags).
public enum TagName {
    /// The form of a tag's name that is unique within a scope. It is computed in four steps: trim White_Space from both ends;
    /// convert to NFC; replace each scalar by its full case folding without context (CaseFolding.txt of Unicode 15.1, statuses
    /// C and F); convert to NFC again.
    ///
    /// The function is idempotent, and maps canonically equivalent names to the same scalars. The first conversion to NFC makes
    /// equivalent names equal. The second conversion recomposes characters that folding decomposed. For example, folding turns
    /// "ǰ" into "j" and a caron.
    ///
    /// Folded names must be compared by their UTF-8 bytes, in the database as well. Folded names are in NFC, so Swift's `==` yields
    /// the same result as a comparison of bytes. For other names, the result may differ: Swift considers "é" equal to "e" with a
    /// combining accent, but SQLite, JavaScript and digests distinguish them.
    ///
    ///     TagName.fold(" STRASSE ") == TagName.fold("Straße")  // "strasse"
    public static func fold(_ name: String) -> String {
        let scalars = name.unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        let trimmed = String(scalars[first...last])
        if trimmed.utf8.allSatisfy({ $0 < 0x80 }) { return trimmed.lowercased() }

        var folded = String.UnicodeScalarView()
        for scalar in CanonicalForm.composed(trimmed).unicodeScalars {
            CaseFolding.fold(scalar) { folded.append($0) }
        }
        return CanonicalForm.composed(String(folded))
    }
}

extension CaseFolding {
    /// Calls `body` with each scalar of the full case folding of `scalar`. Usually the folding is a single scalar.
    static func fold(_ scalar: Unicode.Scalar, _ body: (Unicode.Scalar) -> Void) {
        if let several = full[scalar.value] {
            several.compactMap(Unicode.Scalar.init).forEach(body)
            return
        }
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].last < scalar.value { low = middle + 1 } else { high = middle }
        }
        guard low < ranges.count, ranges[low].first <= scalar.value,
            (scalar.value - ranges[low].first).isMultiple(of: ranges[low].stride),
            let target = Unicode.Scalar(UInt32(Int32(scalar.value) + ranges[low].delta))
        else { return body(scalar) }
        body(target)
    }
}

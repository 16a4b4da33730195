/// The name of a tag, as far as it decides which tags are the same (merge.md, Tags).
public enum TagName {
    /// The form under which a tag's name is unique within a scope: scalars with White_Space taken off both ends, NFC,
    /// full case folding of each scalar without context (CaseFolding.txt of Unicode 15.1, statuses C and F), NFC.
    ///
    /// Folding a folded name changes nothing, and canonically equivalent names fold to the same scalars: the first NFC
    /// makes them equal, the second puts together again what folding took apart ("ǰ" becomes "j" and a caron).
    ///
    /// Compare folded names by their UTF-8 bytes, in the database as well. Swift's `==` gives the same answer for
    /// folded names, because they are in NFC; for names that are not folded it does not: "é" in one scalar `==` "é" in two,
    /// which are different bytes to SQLite, to JavaScript, and to a digest.
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
    /// Calls `body` with each scalar that full case folding turns `scalar` into, most often one.
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

import Foundation

/// Computes Unicode's NFC from Foundation's decompositions.
///
/// Foundation's own NFC is not used. On Linux it confuses a letter beyond U+FFFF with the letter that has the same lower 16 bits
/// (U+1042D U+0308 becomes U+04EC). Its time is also quadratic in the number of successive combining marks.
public enum CanonicalForm {
    /// Converts `text` to NFC (Unicode, 3.11, D117), in nearly linear time.
    public static func composed(_ text: String) -> String {
        var composed: [Unicode.Scalar] = []
        var starter: Int?
        var previousClass: UInt8 = 0
        for scalar in decomposed(text) {
            let combiningClass = scalar.properties.canonicalCombiningClass.rawValue
            if let position = starter, position == composed.count - 1 || previousClass < combiningClass,
                let composition = composition(of: composed[position], scalar)
            {
                composed[position] = composition
                continue
            }
            if combiningClass == 0 { starter = composed.count }
            composed.append(scalar)
            previousClass = combiningClass
        }
        return string(composed)
    }

    private static func string(_ scalars: [Unicode.Scalar]) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }

    /// The single scalar to which NFC composes two scalars; nil if NFC does not compose them.
    static func composition(of first: Unicode.Scalar, _ second: Unicode.Scalar) -> Unicode.Scalar? {
        // No scalar below U+0300 composes with the scalar before it.
        guard second.value >= 0x0300 else { return nil }
        // Hangul syllables are composed by arithmetic (Unicode, 3.12), which Foundation implements only in part.
        switch (first.value, second.value) {
        case (0x1100...0x1112, 0x1161...0x1175):
            return Unicode.Scalar(0xAC00 + ((first.value - 0x1100) * 21 + second.value - 0x1161) * 28)
        case (0xAC00...0xD7A3, 0x11A8...0x11C2) where (first.value - 0xAC00).isMultiple(of: 28):
            return Unicode.Scalar(first.value + second.value - 0x11A7)
        default: break
        }
        // Foundation composes U+0CCA U+0CD5 to U+0CCB only if U+0CCA was decomposed first. So both scalars are decomposed, and
        // then composed.
        let parts = decomposed(String(first) + String(second))
        let scalars = string(parts).precomposedStringWithCanonicalMapping.unicodeScalars
        guard scalars.count == 1, let composition = scalars.first, decomposed(String(composition)) == parts
        else { return nil }
        return composition
    }

    /// The scalars of `text` in NFD: each scalar is decomposed, then marks are put into canonical order (Unicode, 3.11, D109).
    private static func decomposed(_ text: String) -> [Unicode.Scalar] {
        var result: [Unicode.Scalar] = []
        var marks: [(scalar: Unicode.Scalar, order: UInt8)] = []
        func flush() {
            marks.sort { $0.order < $1.order }  // stable: marks of one class keep their order
            result += marks.map(\.scalar)
            marks.removeAll(keepingCapacity: true)
        }
        for scalar in text.unicodeScalars {
            let parts = scalar.value < 0xC0 ? String(scalar) : String(scalar).decomposedStringWithCanonicalMapping
            for part in parts.unicodeScalars {
                let order = part.properties.canonicalCombiningClass.rawValue
                if order == 0 {
                    flush()
                    result.append(part)
                } else {
                    marks.append((part, order))
                }
            }
        }
        flush()
        return result
    }
}

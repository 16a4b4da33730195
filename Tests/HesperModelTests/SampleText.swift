/// Random texts that mix many scripts, with difficult elements: marks, joiners, ligatures, emoji.
enum SampleText {
    private static let pieces = [
        "a", "B", "foo", "Bär", "e\u{301}", "ß", "İ", "Łódź", "ﬁ", "２", "½", "don't", "x_y", "Ὀδυσσεύς", "Ёлка", "שָׁ",
        "צה״ל",
        "مُحَمَّد", "می\u{200C}خ", "हिन्दी", "क\u{94D}\u{93C}", "ড়া", "தமிழ்", "東", "京都", "日本の", "が", "か\u{3099}", "ｶﾞ", "ー", "㍿",
        "𠮷",
        "한국", "\u{1112}\u{1161}\u{11AB}", "กิน", "น้ำ", "ខ្មែរ", "မြန်", "བོད་", "🎉", "👩‍👩‍👧", "👍🏽", "🇫🇷", "\u{200B}", "\u{AD}",
        "\u{301}", "-", "、",
        "\r\n", "\t", "…", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ]

    static func make(_ random: inout SeededGenerator) -> String {
        (0..<Int.random(in: 1...12, using: &random)).map { _ in
            (0..<Int.random(in: 1...5, using: &random)).map { _ in
                pieces[Int.random(in: 0..<pieces.count, using: &random)]
            }.joined()
        }.joined(separator: " ")
    }
}

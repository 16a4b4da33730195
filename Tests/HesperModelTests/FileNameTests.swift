import HesperModel
import Testing

/// File names derived from first lines are valid on Windows, macOS and Linux, and unique.
@Suite struct FileNameTests {
    @Test(
        arguments: [
            ("Milk\nBread", "Milk"),
            ("\n\n  # Rome\n", "Rome"),
            ("### A/B: C\\D | E", "A-B- C-D - E"),
            ("Is it <true>? \"Yes\" *", "Is it true Yes"),
            ("", "Untitled"),
            (" \t\n\u{a0}\u{3000}\n", "Untitled"),
            ("???", "Untitled"),
            (".hidden", "hidden"),
            ("...", "Untitled"),
            ("../../etc/passwd", "etc-passwd"),
            ("-rf /", "rf -"),
            ("- [ ] Milk", "[ ] Milk"),
            ("~$lock", "$lock"),
            ("ends with dots. . .", "ends with dots"),
            ("a\tb\u{b}c\u{2028}d", "a b"),
            ("tab\t\tand\u{7f}\u{1b}[31mred", "tab and [31mred"),
            ("CON", "CON_"), ("nul", "nul_"), ("Aux.txt", "Aux_.txt"), ("com1.tar.gz", "com1_.tar.gz"),
            ("LPT\u{b9}", "LPT\u{b9}_"), ("COM", "COM"), ("COM10", "COM10"), ("console", "console"),
            ("nul .x", "nul _.x"),
            ("Cafe\u{301}", "Caf\u{e9}"),
            ("\u{202e}gpj.exe", "gpj.exe"),
            ("\u{feff}mark", "mark"),
            ("family \u{1f469}\u{200d}\u{1f467}", "family \u{1f469}\u{200d}\u{1f467}"),
            (
                "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}",
                "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}"
            ),
            ("日本語のメモ\n二行目", "日本語のメモ"),
            ("windows\r\nline", "windows"),
        ])
    func notesAreNamedByTheirFirstLine(_ text: String, _ name: String) {
        let stem = FileName.stem(ofNote: text)
        #expect(Array(stem.unicodeScalars) == Array(name.unicodeScalars))
        #expect(FileNameTests.isSafe(stem + ".md"))
    }

    @Test(
        arguments: [
            String(repeating: "a", count: 5_000), String(repeating: "\u{e9}", count: 500),
            String(repeating: "\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}", count: 100),
            String(repeating: "word ", count: 60), "e" + String(repeating: "\u{301}", count: 10_000),
            String(repeating: "#", count: 300) + "x", String(repeating: "?", count: 399) + "ab",
        ])
    func longLinesAreTruncatedBetweenCharacters(_ text: String) {
        let stem = FileName.stem(ofNote: text)
        #expect(FileNameTests.isSafe(stem + ".md"))
        #expect(stem == "Untitled" || text.contains(stem))
    }

    @Test func allScalarsAreSafe() {
        // The stride is a prime, which visits all blocks in a short time.
        for value in (UInt32(0)..<0x500).map({ $0 }) + stride(from: UInt32(0x500), to: 0x110000, by: 37) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let stem = FileName.stem(ofNote: "a\(scalar)b\(scalar)\(scalar)")
            #expect(FileNameTests.isSafe(stem + ".md"), "U+\(String(value, radix: 16))")
        }
    }

    private static let id = UniqueID(high: 0x0123_4567_89ab_4def, low: 0x8000_0000_0000_0001)

    @Test(
        arguments: [
            ("Rome.JPG", "image/jpeg", "Rome.JPG"),
            ("Rome", "image/jpeg", "Rome.jpg"),
            (nil, "application/pdf", "\(id).pdf"),
            (nil, "x/unheard-of", "\(id)"),
            ("", "IMAGE/PNG", "\(id).png"),
            ("notes v1.2 final", "text/plain", "notes v1.2 final.txt"),
            ("archive.tar.gz", "application/gzip", "archive.tar.gz"),
            ("../../.ssh/id_rsa", "text/plain", "ssh-id_rsa.txt"),
            ("C:\\temp\\a.png", "image/png", "C--temp-a.png"),
            (".png", "image/png", "png.png"),
            ("nul.png", "image/png", "nul_.png"),
            ("a.b/c", "image/png", "a.b-c.png"),
        ] as [(String?, String, String)])
    func attachmentsKeepTheirNames(_ filename: String?, _ type: String, _ name: String) {
        let parts = FileName.parts(ofAttachment: FileNameTests.id, filename: filename, mimeType: type)
        #expect(parts.stem + parts.ending == name)
        #expect(FileNameTests.isSafe(parts.stem + parts.ending))
    }

    // MARK: Unique

    @Test func namesAreUniqueOnAllSystems() {
        var names = FileNames()
        let stems = [
            "Stra\u{df}e", "STRASSE", "strasse", "i", "I", "\u{131}", "K", "\u{212a}", "\u{c5}", "a\u{30a}", "Milk 2",
            "Milk", "milk",
            "MILK",
        ]
        let paths = stems.map { names.path(folder: "", $0, ending: ".md") }
        #expect(
            paths == [
                "Stra\u{df}e.md", "STRASSE 2.md", "strasse 3.md", "i.md", "I 2.md", "\u{131} 3.md", "K.md",
                "\u{212a} 2.md",
                "\u{c5}.md", "a\u{30a} 2.md", "Milk 2.md", "Milk.md", "milk 3.md", "MILK 4.md",
            ])
        #expect(names.path(folder: "Archive/", "Milk", ending: ".md") == "Archive/Milk.md")
        #expect(names.path(folder: "Attachments/", "Milk", ending: "") == "Attachments/Milk")
    }

    @Test func manyEqualNamesTakeLinearTime() {
        var names = FileNames()
        let paths = (0..<20_000).map { _ in names.path(folder: "", "To do", ending: ".md") }
        #expect(Set(paths).count == paths.count)
        #expect(paths.last == "To do 20000.md")
    }

    /// The rules for valid names, implemented independently of the code under test.
    private static func isSafe(_ name: String) -> Bool {
        let stem = String(name.prefix { $0 != "." })
        let devices = ["con", "prn", "aux", "nul", "conin$", "conout$"]
        let isDevice =
            devices.contains(stem.lowercased())
            || stem.lowercased().wholeMatch(of: #/(com|lpt)[0-9\u{b9}\u{b2}\u{b3}]/#) != nil
        return !name.isEmpty && name.utf8.count <= 120 && !isDevice
            && !name.unicodeScalars.contains {
                "<>:\"/\\|?*".unicodeScalars.contains($0) || $0.value < 0x20 || $0.value == 0x7f
            }
            && name.first != "." && name.first != " " && name.first != "-" && name.last != "." && name.last != " "
            && Array(CanonicalForm.composed(name).unicodeScalars) == Array(name.unicodeScalars)
    }
}

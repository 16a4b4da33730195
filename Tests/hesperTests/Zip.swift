import Foundation

/// Creates zips with Python's zipfile, independent of our own writer.
enum Zip {
    /// - Parameters:
    ///   - script: Python code that adds to `z`, a ZipFile. `i(name)` returns a ZipInfo with a date in 2020.
    static func make(_ path: String, _ script: String) throws {
        let program = """
            import sys, zipfile
            def i(name):
                return zipfile.ZipInfo(name, (2020, 2, 3, 4, 5, 6))
            with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as z:
            \(script.split(separator: "\n").map { "    " + $0 }.joined(separator: "\n"))
            """
        let python = Process()
        python.executableURL = URL(filePath: "/usr/bin/python3")
        python.arguments = ["-c", program, path]
        try python.run()
        python.waitUntilExit()
        struct Failed: Error {}
        guard python.terminationStatus == 0 else { throw Failed() }
    }
}

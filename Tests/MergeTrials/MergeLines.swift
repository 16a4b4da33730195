import Foundation
import HesperModel

/// Merges the texts given as JSON lines on standard input, for benchmarks.
enum MergeLines {
    private struct Input: Decodable {
        let base: String
        let older: String
        let newer: String
    }

    private struct Output: Encodable {
        let merged: String
        let superseded: [String]
        let milliseconds: Double
    }

    static func run() throws {
        let decoder = JSONDecoder()
        let encoder = JSONEncoder()
        let clock = ContinuousClock()
        while let line = readLine() {
            if line.isEmpty { continue }
            let input = try decoder.decode(Input.self, from: Data(line.utf8))
            let start = clock.now
            let outcome = TextMerge.outcome(base: input.base, older: input.older, newer: input.newer)
            let output = Output(
                merged: outcome.text, superseded: outcome.superseded.map(\.text),
                milliseconds: (clock.now - start) / .milliseconds(1))
            FileHandle.standardOutput.write(try encoder.encode(output) + Data("\n".utf8))
        }
    }
}

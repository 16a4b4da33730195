import Foundation

/// Merges random texts and checks invariants.
///
///     merge-trials laws [--merges N] [--seed S]
///     merge-trials lives [--lives N] [--seed S]
///     merge-trials merge < texts.jsonl
@main
struct MergeTrials {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let seed = UInt64(option("--seed", arguments) ?? Int.random(in: 0..<1_000_000_000))
        var holds = true
        switch arguments.first {
        case "laws": holds = await LawTrials.run(merges: option("--merges", arguments) ?? 100_000, seed: seed)
        case "lives": holds = await LifeTrials.run(lives: option("--lives", arguments) ?? 300, seed: seed)
        case "merge": try MergeLines.run()
        default:
            print("usage: merge-trials laws [--merges N] [--seed S] | lives [--lives N] [--seed S] | merge")
            exit(2)
        }
        if !holds { exit(1) }
    }

    private static func option(_ name: String, _ arguments: ArraySlice<String>) -> Int? {
        guard let index = arguments.firstIndex(of: name), index + 1 < arguments.endIndex else { return nil }
        return Int(arguments[index + 1])
    }
}

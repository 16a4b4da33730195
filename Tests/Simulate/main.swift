import Foundation
import HesperClientTesting

// Runs simulated lives, and prints what is wrong with them.
//
//     simulate [COUNT] [FIRST]      runs COUNT lives, beginning with the seed FIRST
//     simulate --until-failure COUNT   runs at most COUNT lives, until one fails
//     simulate --seed SEED          runs one life, and prints what happened in it

var arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "--seed", arguments.count == 2, let seed = UInt64(arguments[1]) {
    let life = try Life(seed: seed, isRecorded: true)
    let failures = try life.run()
    for line in life.record { print(line) }
    for failure in failures { print("FAILURE", failure) }
    print("trace", String(life.trace, radix: 16))
    exit(failures.isEmpty ? 0 : 1)
}
let stops = arguments.first == "--until-failure"
if stops { arguments.removeFirst() }
guard arguments.count <= 2, let count = UInt64(arguments.first ?? "100"),
    let first = UInt64(arguments.count == 2 ? arguments[1] : "1")
else {
    print("usage: simulate [--until-failure] [COUNT] [FIRST] | simulate --seed SEED")
    exit(2)
}
exit(try await run(first..<first + count, stopping: stops) ? 0 : 1)

/// Runs lives, as many at the same time as there are processors: each runs on one thread and shares nothing with others.
/// - Parameter stops: whether to end after a failure.
/// - Returns: whether all have passed.
func run(_ seeds: Range<UInt64>, stopping stops: Bool) async throws -> Bool {
    let start = ContinuousClock.now
    var (ended, failed) = (0, 0)
    var trace: UInt64 = 0
    var remaining = seeds.makeIterator()
    try await withThrowingTaskGroup(of: (seed: UInt64, failures: [String], trace: UInt64).self) { group in
        for seed in remaining.take(ProcessInfo.processInfo.activeProcessorCount) {
            group.addTask { try live(seed) }
        }
        while let life = try await group.next() {
            ended += 1
            // Lives end in any order.
            trace ^= life.trace &* (2 &* life.seed &+ 1)
            for failure in life.failures.prefix(3) { print(failure) }
            if !life.failures.isEmpty { failed += 1 }
            guard !stops || failed == 0, let seed = remaining.next() else { continue }
            group.addTask { try live(seed) }
        }
    }
    print(
        "\(ended) lives, \(failed) failed, in \(ContinuousClock.now - start); trace \(String(trace, radix: 16))")
    return failed == 0
}

func live(_ seed: UInt64) throws -> (seed: UInt64, failures: [String], trace: UInt64) {
    let life = try Life(seed: seed)
    let failures = try life.run()
    return (seed, failures, life.trace)
}

extension IteratorProtocol {
    /// The next elements, at most a number of them.
    fileprivate mutating func take(_ count: Int) -> [Element] { (0..<count).compactMap { _ in next() } }
}

import CFaults
import Dispatch
import Foundation

/// A counter that two threads change without a lock. `@unchecked Sendable` hides the intended fault from the compiler.
final class Count: @unchecked Sendable {
    var value = 0
}

// Causes the named fault. Tools/sanitize.sh expects a report for each, and none for `none`.
switch CommandLine.arguments.dropFirst().first {
case "none":
    print("no fault")
case "freed":
    let number = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    number.initialize(to: 1)
    number.deallocate()
    print(number.pointee)
case "leak":
    forget()
case "overflow":
    print(overflow())
case "race":
    let (count, done) = (Count(), DispatchSemaphore(value: 0))
    for _ in 0..<2 {
        Thread.detachNewThread {
            for _ in 0..<1_000 { count.value += 1 }
            done.signal()
        }
    }
    for _ in 0..<2 { done.wait() }
    print(count.value)
default:
    print("usage: faults none|freed|leak|overflow|race")
    exit(2)
}

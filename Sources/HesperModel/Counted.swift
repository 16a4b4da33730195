/// A count and its noun, in the singular or plural: `1 account`, `2 accounts`.
package func counted(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

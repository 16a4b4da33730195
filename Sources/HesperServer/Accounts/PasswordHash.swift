import Crypto
import CryptoExtras
import Foundation

/// Hashes a password for storage, with scrypt (RFC 7914) and a random salt. The text form is
/// `$scrypt$ln=17,r=8,p=1$<salt>$<hash>`, with salt and hash in base64 without padding.
///
///     let text = try PasswordHash.make("correct horse battery staple", cost: 17)
///     try PasswordHash.matches("correct horse battery staple", text)   // true
public enum PasswordHash {
    static let blockSize = 8
    static let saltBytes = 16
    static let hashBytes = 32
    /// The values of the cost `ln` that are accepted in a stored hash. The lowest costs are for tests. A cost of 20 takes 1 GiB of
    /// memory.
    static let costs = 1...20

    /// Hashes a password with a new salt. This takes 2^cost KiB of memory, and about a third of a second for cost 17.
    /// - Parameter cost: the binary logarithm of scrypt's N.
    public static func make(_ password: String, cost: Int) throws -> String {
        let salt = SymmetricKey(size: .bits128).withUnsafeBytes { Data($0) }
        let hash = try derive(password, salt: salt, cost: cost)
        return "$scrypt$ln=\(cost),r=\(blockSize),p=1$\(salt.unpadded)$\(hash.unpadded)"
    }

    /// Whether `text` is the hash of this password. The duration of the check depends only on the cost of the hash.
    public static func matches(_ password: String, _ text: String) throws -> Bool {
        guard let (cost, salt, expected) = parse(text) else { return false }
        let actual = try derive(password, salt: salt, cost: cost)
        // Compares every byte, so that the time of the comparison does not reveal where the hashes differ.
        return actual.count == expected.count && zip(actual, expected).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// Whether `text` is the hash of this password. One hash is always computed for each cost in `costs`, so that the duration of
    /// the check does not depend on `text`.
    /// - Parameters:
    ///   - text: the stored hash; nil if there is none.
    ///   - costs: the costs, without duplicates. They must include the cost of `text`.
    static func matches(_ password: String, _ text: String?, inTheTimeOf costs: [Int]) throws -> Bool {
        let own = text.flatMap { cost(of: $0) }
        var isRight = false
        for cost in costs {
            if let text, cost == own {
                isRight = try matches(password, text)
            } else {
                _ = try matches(password, dummy(cost: cost))
            }
        }
        return isRight
    }

    /// The cost of a hash; nil if the hash is invalid.
    static func cost(of text: String) -> Int? { parse(text)?.cost }

    /// A hash of this cost that matches no password. It is checked if the stored hash is missing or has a different cost, so that
    /// every check takes the same time.
    static func dummy(cost: Int) -> String {
        "$scrypt$ln=\(cost),r=\(blockSize),p=1$\(Data(count: saltBytes).unpadded)$\(Data(count: hashBytes).unpadded)"
    }

    private static func derive(_ password: String, salt: Data, cost: Int) throws -> Data {
        let key = try KDF.Scrypt.deriveKey(
            from: Data(password.utf8), salt: salt, outputByteCount: hashBytes, rounds: 1 << cost,
            blockSize: blockSize, parallelism: 1)
        return key.withUnsafeBytes { Data($0) }
    }

    private static func parse(_ text: String) -> (cost: Int, salt: Data, hash: Data)? {
        let parts = text.split(separator: "$")
        guard parts.count == 4, parts[0] == "scrypt", parts[1].hasPrefix("ln="), parts[1].hasSuffix(",r=8,p=1"),
            let cost = Int(parts[1].dropFirst(3).dropLast(8)), costs.contains(cost),
            let salt = Data(unpadded: parts[2]), let hash = Data(unpadded: parts[3])
        else { return nil }
        return (cost, salt, hash)
    }
}

extension Data {
    fileprivate var unpadded: String { base64EncodedString().replacing("=", with: "") }

    fileprivate init?(unpadded text: Substring) {
        self.init(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4))
    }
}

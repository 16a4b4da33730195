import Testing

@testable import hesper

/// The syntax of EnvironmentFile= in systemd 252 and later.
@Suite struct EnvironmentFileTests {
    @Test(
        arguments: [
            ("", [:]),
            ("A=1", ["A": "1"]),
            ("A=1\nB=2\n", ["A": "1", "B": "2"]),
            ("A=1\r\nB=2\r\n", ["A": "1", "B": "2"]),
            ("A=1\nA=2", ["A": "2"]),
            ("A=", ["A": ""]),
            ("# A=1\n; B=2\n  # C=3\nD=4", ["D": "4"]),
            ("no assignment\nA=1", ["A": "1"]),
            ("  A = a  b \nB=\t2", ["A": "a  b", "B": "2"]),
            ("A=a#b\nB=c # d", ["A": "a#b", "B": "c # d"]),
            ("A=x=y", ["A": "x=y"]),
            ("A='a b'\nB=\" c \"", ["A": "a b", "B": " c "]),
            ("A='a'\"b\"c", ["A": "abc"]),
            ("A=a\"b\"", ["A": "a\"b\""]),
            ("A='$HOME \\n'\nB=$HOME\nC=`id`", ["A": "$HOME \\n", "B": "$HOME", "C": "`id`"]),
            ("A=\"a\\\"b\\\\c\\$d\\ne\"", ["A": "a\"b\\c$d\\ne"]),
            ("A=a\\ \\b", ["A": "a b"]),
            ("A=a\\\nb\nC=1", ["A": "ab", "C": "1"]),
            ("A=\"a\\\nb\"", ["A": "ab"]),
            ("A=\"a\nb\"", ["A": "a\nb"]),
            ("A='open", ["A": "open"]),
            ("export A=1\n1B=2\nÄ=3\n=4\nC_1=5", ["C_1": "5"]),
            ("A=grüße 🌍", ["A": "grüße 🌍"]),
        ] as [(String, [String: String])])
    func matchesSystemd(_ text: String, _ variables: [String: String]) {
        #expect(EnvironmentFile(text).variables == variables)
    }
}

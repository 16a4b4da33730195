import Testing

@testable import HesperServer

@Suite struct OneTimeCodeTests {
    @Test func aCodeHasFiveGroupsOfFiveCharacters() throws {
        let codes = (0..<1_000).map { _ in OneTimeCode.random().text }
        for code in codes {
            #expect(code.wholeMatch(of: #/[0-9A-HJKMNP-TV-Z]{5}(-[0-9A-HJKMNP-TV-Z]{5}){4}/#) != nil, "\(code)")
        }
        #expect(Set(codes).count == codes.count)
        // Every character occurs at every position, so no bit is constant.
        for place in 0..<29 where place % 6 != 5 {
            #expect(Set(codes.map { Array($0)[place] }).count == 32)
        }
    }

    @Test(arguments: [
        "K7QM2-9XW4T-0HRCD-ZB8N3-6VJP1", "k7qm2-9xw4t-0hrcd-zb8n3-6vjp1", "K7QM29XW4T0HRCDZB8N36VJP1",
        " k7qm2 9xw4t ohrcd zb8n3 6vjpi ", "K7QM2-9XW4T-OHRCD-ZB8N3-6VJPl", "K-7-Q-M-2-9XW4T0HRCDZB8N36VJP1",
    ]) func typedVariants(_ typed: String) throws {
        let code = try #require(OneTimeCode(typed))
        #expect(code.text == "K7QM2-9XW4T-0HRCD-ZB8N3-6VJP1")
        #expect(code.hash == OneTimeCode("K7QM2-9XW4T-0HRCD-ZB8N3-6VJP1")?.hash)
        #expect(code.hash.bytes.count == 32)
    }

    @Test(arguments: [
        "", "K7QM2", "K7QM2-9XW4T-0HRCD-ZB8N3-6VJP", "K7QM2-9XW4T-0HRCD-ZB8N3-6VJP12", "U7QM2-9XW4T-0HRCD-ZB8N3-6VJP1",
        "K7QM2_9XW4T_0HRCD_ZB8N3_6VJP1", "Ｋ7QM2-9XW4T-0HRCD-ZB8N3-6VJP1", "K7QM2-9XW4T-0HRCD-ZB8N3-6VJP1\n",
        "K7QM2-9XW4T-0HRCD-ZB8N3-6VJP1" + String(repeating: " ", count: 128),
    ]) func invalidCodes(_ typed: String) {
        #expect(OneTimeCode(typed) == nil)
    }

    @Test func differentCodesHaveDifferentHashes() {
        #expect(OneTimeCode.random().hash != OneTimeCode.random().hash)
    }
}

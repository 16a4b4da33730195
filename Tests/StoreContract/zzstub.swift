extension StoreContract {
    static let accountCases: [Case] = []
    static let deviceCases: [Case] = []
    static let transactionCases: [Case] = []
    static let scanCases: [Case] = []
    static let digestCases: [Case] = []
    static let deletionCases: [Case] = []
    static let bagCases: [Case] = []
    static let historyCases: [Case] = []
    static let searchCases: [Case] = []
    static let durabilityCases: [Case] = []
}

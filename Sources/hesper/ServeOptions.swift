import ArgumentParser

/// The options of the command `serve` that no other command has.
struct ServeOptions: SettingOptions {
    @Option(.host) var host: String?
    @Option(.port) var port: String?
    @Option(.public) var `public`: String?
    @Option(.signUp) var signUp: String?
    @Option(.attachmentSize) var attachmentSize: String?
    @Option(.quota) var quota: String?
    @Option(.history) var history: String?
    @Option(.grace) var grace: String?
    @Option(.requestsPerMinute) var requestsPerMinute: String?
    @Option(.passwordCost) var passwordCost: String?
    @Option(.logLevel) var logLevel: String?
    @Option(.logFormat) var logFormat: String?
    @Option(.metrics) var metrics: String?
    @Option(.tls) var tls: String?
    @Option(.tlsCertificate) var tlsCertificate: String?
    @Option(.tlsKey) var tlsKey: String?
    @Option(.httpPort) var httpPort: String?
    @Option(.sendmail) var sendmail: String?
    @Option(.mailFrom) var mailFrom: String?
    @Option(.backupTo) var backupTo: String?
    @Option(.backupEvery) var backupEvery: String?
    @Option(.backupKeep) var backupKeep: String?
    @Option(.corsOrigins) var corsOrigins: [String] = []
    @Option(.trustedProxies) var trustedProxies: [String] = []
    @Option(.webhookNetworks) var webhookNetworks: [String] = []
}

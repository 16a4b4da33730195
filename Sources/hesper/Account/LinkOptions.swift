import ArgumentParser

/// The option for the public URL of the server, which is used in printed links.
struct LinkOptions: SettingOptions {
    @Option(.url) var url: String?
}

import ArgumentParser

/// The public URL of the server, for printed links.
struct LinkOptions: SettingOptions {
    @Option(.url) var url: String?
}

package import ArgumentParser

package struct LogOptions: SettingOptions {
    @Option(Settings.logLevel) package var logLevel: String?
    @Option(Settings.logFormat, completion: .words(of: LogFormat.self))
    package var logFormat: String?

    package init() {}
}

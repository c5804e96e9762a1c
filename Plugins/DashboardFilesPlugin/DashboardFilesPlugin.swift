import Foundation
import PackagePlugin

/// Gives the proxy the dashboard's files: `DashboardFile.embedded`, every file of `Public` as text.
@main
struct DashboardFilesPlugin: BuildToolPlugin {
    /// A command that runs before each build; its file changes only with the files of `Public`.
    func createBuildCommands(context: PluginContext, target: any Target) -> [Command] {
        let folder = context.pluginWorkDirectoryURL
        let script = context.package.directoryURL.appending(path: "scripts/list-dashboard-files")
        return [
            .prebuildCommand(
                displayName: "Embedding the dashboard", executable: URL(filePath: "/bin/sh"),
                arguments: [script.path(), folder.path()], outputFilesDirectory: folder)
        ]
    }
}

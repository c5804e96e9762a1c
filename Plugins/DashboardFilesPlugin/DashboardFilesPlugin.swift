import Foundation
import PackagePlugin

/// Gives the proxy the list of the dashboard's files: `DashboardFile.all`, every file of `Public`.
@main
struct DashboardFilesPlugin: BuildToolPlugin {
    /// A command that runs before each build; its file changes only with the names of the files.
    func createBuildCommands(context: PluginContext, target: any Target) -> [Command] {
        let folder = context.pluginWorkDirectoryURL
        let script = context.package.directoryURL.appending(path: "scripts/list-dashboard-files")
        return [
            .prebuildCommand(
                displayName: "Listing the dashboard's files", executable: URL(filePath: "/bin/sh"),
                arguments: [script.path(), folder.path()], outputFilesDirectory: folder)
        ]
    }
}

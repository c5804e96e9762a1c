import Foundation
import PackagePlugin

/// Gives the program the commit of its sources: `Commit.text`, for `understudy version`.
@main
struct CommitPlugin: BuildToolPlugin {
    /// A command that runs before each build; its file changes only with the commit.
    func createBuildCommands(context: PluginContext, target: any Target) -> [Command] {
        let folder = context.pluginWorkDirectoryURL
        let script = context.package.directoryURL.appending(path: "scripts/note-commit")
        return [
            .prebuildCommand(
                displayName: "Noting the commit", executable: URL(filePath: "/bin/sh"),
                arguments: [script.path(), folder.path()], outputFilesDirectory: folder)
        ]
    }
}

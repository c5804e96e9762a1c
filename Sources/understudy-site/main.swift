import Program

await SiteCommand.runAsProcess()

ThisProcess.keepFilesPrivate()
await Understudy.runAsProcess()

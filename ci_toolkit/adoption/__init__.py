"""Takes a repository on: looks at it, writes its first conf and workflows, and tells later what has drifted."""

"""Takes drift into git: which fields of which manifests, in which text, proven, in the folder or as a pull request."""

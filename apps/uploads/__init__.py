"""Files that people send by browser: kept on disk, looked at, confirmed, then imported by a sweep."""

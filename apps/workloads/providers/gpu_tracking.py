"""Clusters whose accounting tracks GPUs: a job of another cluster that names none may hold some."""

from contextlib import closing, suppress
from dataclasses import replace

from apps.files.lines import FileUnreadable
from apps.workloads.providers.job_file import JobFile
from apps.workloads.providers.sacct import SacctOptions, clusters_tracking_gpus


def knowing_clusters(
    file: JobFile, options: SacctOptions, accounted: frozenset[str]
) -> SacctOptions:
    """The options with the clusters that track GPUs: by the whole file, or `accounted` before.

    A file of jobs without GPUs, of an hour say, is judged by the files before it. The file is read to
    its end for it.
    """
    tracked: set[str] = set()
    # Where the file breaks off is told when its rows are read.
    with closing(file.all_lines()) as lines, suppress(FileUnreadable):
        tracked.update(clusters_tracking_gpus(lines, options=options))
    return replace(options, tracking=accounted | tracked)

"""Files that outlive a request: by name, in a folder or in a bucket, seen whole or not at all."""

from apps.files.drafts import Draft as Draft
from apps.files.drafts import FileEntry as FileEntry
from apps.files.names import BadFileName as BadFileName
from apps.files.stored import begin_file as begin_file
from apps.files.stored import delete_file as delete_file
from apps.files.stored import forget_drafts as forget_drafts
from apps.files.stored import is_stored as is_stored
from apps.files.stored import list_files as list_files
from apps.files.stored import local_copy as local_copy
from apps.files.stored import open_file as open_file
from apps.files.stored import place_trouble as place_trouble
from apps.files.stored import write_file as write_file
from apps.files.trouble import PlaceFull as PlaceFull
from apps.files.trouble import PlaceUnreachable as PlaceUnreachable

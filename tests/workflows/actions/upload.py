"""Uploads a folder or a file as one zip file, as actions/upload-artifact does with the inputs that it is given here."""

import hashlib
import io
import os
import sys
import urllib.request
import zipfile
from pathlib import Path

from service import call

FORBIDDEN = '":<>|*?\r\n'  # of @actions/artifact; a name may not hold slashes either

name, root = os.environ["NAME"], Path(os.environ["FOLDER"])
if root.is_file():
    files, root = [root], root.parent
else:
    files = sorted(path for path in root.rglob("*") if path.is_file())
if os.environ["HIDDEN"] != "true":
    files = [path for path in files if not any(part.startswith(".") for part in path.relative_to(root).parts)]
if not files:
    print(f"::warning::No files were found with the provided path: {root}. No artifacts will be uploaded.")
    sys.exit(0)
for text, forbidden in [(name, FORBIDDEN + "/\\"), *((str(path.relative_to(root)), FORBIDDEN) for path in files)]:
    if wrong := sorted(set(text) & set(forbidden)):
        sys.exit(f"::error::The path for one of the files in artifact is not valid: {text!r} holds {wrong}")
packed = io.BytesIO()
with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
    for path in files:
        archive.write(path, path.relative_to(root))
data = packed.getvalue()
url = call("CreateArtifact", name=name, version=7)["signed_upload_url"]
put = urllib.request.Request(url, data=data, method="PUT", headers={"x-ms-blob-type": "BlockBlob"})
urllib.request.urlopen(put, timeout=60).close()
digest = "sha256:" + hashlib.sha256(data).hexdigest()
made = call("FinalizeArtifact", name=name, size=str(len(data)), hash=digest)
print(
    f"Artifact {name} has been successfully uploaded! {len(files)} files, {len(data)} bytes, ID {made['artifact_id']}"
)

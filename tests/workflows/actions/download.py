"""Downloads artifacts of this run, as actions/download-artifact does with the inputs that the toolkit gives it."""

import fnmatch
import hashlib
import io
import os
import sys
import urllib.request
import zipfile
from pathlib import Path

from service import call

name, pattern, root = os.environ["NAME"], os.environ["PATTERN"], Path(os.environ["FOLDER"])
listed = call("ListArtifacts", **({"name_filter": name} if name else {}))["artifacts"]
found = listed if name else [artifact for artifact in listed if fnmatch.fnmatchcase(artifact["name"], pattern)]
if name and not found:
    sys.exit(f"::error::Unable to download artifact(s): Artifact not found for name: {name}")
for artifact in found:
    url = call("GetSignedArtifactURL", name=artifact["name"])["signed_url"]
    with urllib.request.urlopen(url, timeout=60) as answer:
        data = answer.read()
    if "sha256:" + hashlib.sha256(data).hexdigest() != artifact["digest"]:
        sys.exit(f"::error::digest of {artifact['name']} does not match")
    # A single artifact asked for by name goes straight into the folder, others into folders of their names.
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(root if name else root / artifact["name"])
print(f"Downloaded {len(found)} artifact(s)")

"""Copies the plants in a file of the embedded store to a DynamoDB table.

Copy the file, and list its keys:

	mkdir -m 700 .data-copy
	sudo install -m 600 -o "$(id -un)" /var/lib/plantstore/plants.db .data-copy/
	go run go.etcd.io/bbolt/cmd/bbolt@v1.5.0 keys --format hex .data-copy/plants.db plants >.data-copy/keys

Start two servers, the second with the deployment's credentials, region and TABLE (output TableName), and
run this file in a third terminal. If it stops, run it again.

	go run ./cmd/local -addr 127.0.0.1:8081 -data .data-copy
	TABLE_NAME="$TABLE" go run ./cmd/local -addr 127.0.0.1:8082 -store dynamodb
	python3 docs/copy-plants.py http://127.0.0.1:8081 http://127.0.0.1:8082 <.data-copy/keys
"""

import json
import re
import sys
from urllib.parse import urlencode, urljoin
from urllib.request import Request, urlopen

from_server, to_server = sys.argv[1:]


def headers(server, owner):
    form = urlencode({"grant_type": "client_credentials", "client_id": owner}).encode()
    token = json.load(urlopen(server + "/oauth2/token", form))["access_token"]
    return {"Authorization": "Bearer " + token, "Content-Type": "application/json"}


# A line for each plant, with the hexadecimal form of a key, which internal/bolt/format.go describes.
keys = [bytes.fromhex(line) for line in sys.stdin]
copied = 0
for owner in {key[1:-8] for key in keys}:
    from_headers, to_headers = headers(from_server, owner), headers(to_server, owner)
    url = from_server + "/plants?include=id"
    while url:
        page = urlopen(Request(url, headers=from_headers))
        for plant in json.load(page):
            urlopen(Request(to_server + "/plants", json.dumps(plant).encode(), to_headers))
            copied += 1
        link = page.headers["Link"]
        url = link and urljoin(url, re.search("<(.*)>", link)[1])
print(f"copied {copied} of {len(keys)} plants")

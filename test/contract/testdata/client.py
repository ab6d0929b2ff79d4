"""What a user does with the Python client of openapi-generator. The arguments are the base
address, a token and plants.
"""

import json
import sys

from openapi_client import ApiClient, Configuration, NewPlant, PlantsApi
from openapi_client.exceptions import NotFoundException

base, token, plants = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
api = PlantsApi(ApiClient(Configuration(host=base, access_token=token)))

sent = [NewPlant.from_dict(plant) for plant in plants]
for plant, new in zip(plants, sent):
    created = api.create_plant(new)
    assert (created.name, created.tag) == (plant["name"], plant.get("tag")), created
listed = [plant.to_dict() for plant in api.list_plants(include="id")]
assert listed == [new.to_dict() for new in sent], listed
for plant in plants:
    api.delete_plant(plant["id"])
try:
    api.delete_plant(plants[0]["id"])
except NotFoundException as e:
    assert json.loads(e.body)["error"] == 40400, e
else:
    raise AssertionError("deleted twice")
assert api.list_plants() == []

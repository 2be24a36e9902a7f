"""What matrix-nio does through a gateway: nio_client.py SCENARIO OPTIONS. Prints the result as JSON."""

import asyncio
import json
import sys
import tempfile
import time

import nio

RING = "m.rtc.notification"
# How often a sync of two seconds is repeated.
ROUNDS = 30


def client(options, user, **config):
    return nio.AsyncClient(
        options["url"],
        user,
        store_path=options.get("store", ""),
        config=nio.AsyncClientConfig(**config),
    )


def succeeded(response):
    if isinstance(response, nio.ErrorResponse):
        raise RuntimeError(f"{type(response).__name__}: {response.status_code} {response.message}")
    return response


async def log_in(options, user, **config):
    one = client(options, user, **config)
    succeeded(await one.login(options["password"]))
    return one


async def text_in(reader, room, body):
    """The event with this text, once a sync has it. Its key may come with a later sync."""
    locked = []
    for _ in range(ROUNDS):
        response = succeeded(await reader.sync(timeout=2000))
        joined = response.rooms.join.get(room)
        events = [*locked, *(joined.timeline.events if joined else [])]
        locked = []
        for event in events:
            if isinstance(event, nio.MegolmEvent):
                try:
                    event = reader.decrypt_event(event)
                except nio.EncryptionError:
                    locked.append(event)
            if getattr(event, "body", None) == body:
                return event
    raise RuntimeError(f"no sync has {body}")


async def talk(options):
    anna, ben = [await log_in(options, user) for user in options["users"]]
    room = succeeded(await anna.room_create(name="Hall", invite=[ben.user_id])).room_id
    succeeded(await ben.join(room))
    content = {"msgtype": "m.text", "body": "hello"}
    succeeded(await anna.room_send(room, "m.room.message", content))
    event = await text_in(ben, room, "hello")
    with tempfile.TemporaryFile() as file:
        file.write(b"some bytes")
        file.seek(0)
        uploaded, _keys = await anna.upload(file, "text/plain", "a.txt", filesize=10)
    media = succeeded(await ben.download(succeeded(uploaded).content_uri))
    await anna.close()
    await ben.close()
    return {"sender": event.sender, "media": media.body.decode()}


async def wait(options):
    """A ring and a login beyond their rates, which nio repeats on its own."""
    user = options["users"][0]
    anna = client(options, user)
    waits = []

    async def on_refusal(response):
        if isinstance(response, nio.ErrorResponse) and response.status_code == "M_LIMIT_EXCEEDED":
            waits.append(response.retry_after_ms)

    anna.add_response_callback(on_refusal)
    wrong = await anna.login("wrong")
    started = time.monotonic()
    succeeded(await anna.login(options["password"]))
    of_login = [list(waits), (time.monotonic() - started) * 1000]
    waits.clear()
    room = succeeded(await anna.room_create()).room_id
    started = time.monotonic()
    events = [succeeded(await anna.room_send(room, RING, {})).event_id for _ in range(3)]
    of_rings = [list(waits), (time.monotonic() - started) * 1000]
    await anna.close()
    return {"wrong": wrong.status_code, "login": of_login, "rings": of_rings, "events": len(set(events))}


async def cap(options):
    """A filter beyond the cap: refused once, and with the usual settings repeated after a pause."""
    anna = await log_in(options, options["users"][0], max_limit_exceeded=0)
    filters = [await anna.upload_filter(room={"timeline": {"limit": n}}) for n in (1, 2)]
    anna.config = nio.AsyncClientConfig()
    pauses = []

    async def stop(seconds):
        pauses.append(seconds)
        raise InterruptedError

    pause, asyncio.sleep = asyncio.sleep, stop
    try:
        await anna.upload_filter(room={"timeline": {"limit": 2}})
    except InterruptedError:
        pass
    finally:
        asyncio.sleep = pause
    await anna.close()
    return {
        "first": type(filters[0]).__name__,
        "second": [filters[1].status_code, filters[1].retry_after_ms],
        "pauses": pauses,
    }


async def encrypt(options):
    with tempfile.TemporaryDirectory() as store:
        options = {**options, "store": store}
        people = [await log_in(options, user, encryption_enabled=True) for user in options["users"]]
        anna, ben = people
        for one in people:
            succeeded(await one.sync())
            succeeded(await one.keys_upload())
        encryption = nio.EnableEncryptionBuilder().as_dict()
        room = succeeded(await anna.room_create(invite=[ben.user_id], initial_state=[encryption])).room_id
        succeeded(await ben.join(room))
        for _ in range(ROUNDS):
            if room in anna.rooms and ben.user_id in anna.rooms[room].users:
                break
            succeeded(await anna.sync(timeout=2000))
        if anna.should_query_keys:
            succeeded(await anna.keys_query())
        content = {"msgtype": "m.text", "body": "a secret"}
        succeeded(await anna.room_send(room, "m.room.message", content, ignore_unverified_devices=True))
        event = await text_in(ben, room, "a secret")
        for one in people:
            await one.close()
        return {"decrypted": event.decrypted, "room": room, "token": ben.access_token}


SCENARIOS = {"talk": talk, "wait": wait, "cap": cap, "encrypt": encrypt}
print(json.dumps(asyncio.run(SCENARIOS[sys.argv[1]](json.loads(sys.argv[2])))))

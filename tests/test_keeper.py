"""The embedded store's server lives as long as its users, whatever becomes of its folder."""

import shutil
import subprocess
import time

from sitemapcrawl.keeper import Hold


def servers_in(folder):
    found = subprocess.run(["pgrep", "-f", f"valkey-server.*{folder.name}"], capture_output=True, text=True)
    return found.stdout.split()


def until_gone(folder, seconds):
    deadline = time.monotonic() + seconds
    while servers_in(folder):
        assert time.monotonic() < deadline, "the server lingers"
        time.sleep(0.05)


def test_two_users_share_one_server_and_the_last_one_stops_it(store_dir):
    first, second = Hold(store_dir), Hold(store_dir)
    assert 1 == len(servers_in(store_dir))

    first.release()
    time.sleep(0.3)
    assert 1 == len(servers_in(store_dir))
    second.release()

    until_gone(store_dir, 5)


def test_a_server_whose_folder_was_deleted_is_ended_too(store_dir):
    hold = Hold(store_dir)
    assert 1 == len(servers_in(store_dir))

    shutil.rmtree(store_dir)
    hold.release()

    until_gone(store_dir, 20)


def test_a_folder_with_a_long_path_gets_a_short_socket(store_dir):
    folder = store_dir / ("long" * 30)

    hold = Hold(folder)

    assert len(str(hold.socket)) < 104
    hold.release()
